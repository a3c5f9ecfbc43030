// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = x where x > 0, and alpha * (e^x - 1) elsewhere.
///
/// Parameters: elu_param { alpha: 1 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: where x <= 0, (alpha + y) times the top's; where x is +infinity, not-a-number.
template <class T>
class ELULayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "ELU"; }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T alpha = Alpha();
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) {
          y[i] = x[i] > 0 ? x[i] : alpha * std::expm1(x[i]);
        });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T alpha = Alpha();
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Read(*top[0]), Read(Diff(*top[0])),
        Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* y, const T* dy, T* dx) {
          dx[i] = dy[i] * RectifierSlope(x[i], alpha + y[i]);
        });
  }

 private:
  T Alpha() const { return static_cast<T>(this->layer_param().elu_param().alpha()); }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(ELU);

}  // namespace ferry::detail
