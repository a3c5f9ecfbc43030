// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = |x|.
///
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape, other than the bottom.
/// Gradient: where x is 0, 0.
template <class T>
class AbsValLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "AbsVal"; }
  void LayerSetUp(const Blobs& bottom, const Blobs& top) override { this->RequireApart(bottom, top); }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = x[i] < 0 ? -x[i] : x[i]; });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* dy, T* dx) {
          dx[i] = dy[i] * (static_cast<T>(x[i] > 0) - static_cast<T>(x[i] < 0));
        });
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(AbsVal);

}  // namespace ferry::detail
