// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = 1 where x > threshold, and 0 elsewhere.
///
/// Parameters: threshold_param { threshold: 0 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: none; NetError where it is asked for.
template <class T>
class ThresholdLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Threshold"; }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T threshold = static_cast<T>(this->layer_param().threshold_param().threshold());
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = x[i] > threshold ? T(1) : T(0); });
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Threshold);

}  // namespace ferry::detail
