// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = min(max(x, min), max).
///
/// Parameters: clip_param { min: (required), max: (required) }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: the top's where min <= x <= max, ends included, and 0 elsewhere. In place, the top's everywhere,
/// since x is then clipped already.
template <class T>
class ClipLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Clip"; }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T low = Min();
    const T high = Max();
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) {
          const T most = high < x[i] ? high : x[i];
          y[i] = low < most ? most : low;
        });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T low = Min();
    const T high = Max();
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* dy, T* dx) {
          const T above = x[i] >= low ? T(1) : T(0);
          const T below = x[i] <= high ? T(1) : T(0);
          dx[i] = dy[i] * above * below;
        });
  }

 private:
  T Min() const { return static_cast<T>(this->layer_param().clip_param().min()); }
  T Max() const { return static_cast<T>(this->layer_param().clip_param().max()); }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Clip);

}  // namespace ferry::detail
