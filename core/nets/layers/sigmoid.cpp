// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = 1 / (1 + e^-x).
///
/// Parameters: sigmoid_param { engine: DEFAULT }; the engine is ignored.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Caffe: far below 0 its values have fewer digits: it computes 0.5 * tanh(0.5 * x) + 0.5.
template <class T>
class SigmoidLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Sigmoid"; }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = T(1) / (T(1) + std::exp(-x[i])); });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    ParallelFor(
        place, top[0]->count(), Read(*top[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* y, const T* dy, T* dx) {
          dx[i] = dy[i] * y[i] * (T(1) - y[i]);
        });
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Sigmoid);

}  // namespace ferry::detail
