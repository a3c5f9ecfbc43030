// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = max(x, 0) + slope * min(x, 0).
///
/// Parameters: relu_param { negative_slope: 0 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: where x is 0, slope times the top's; where x is not-a-number, 0.
template <class T>
class ReLULayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "ReLU"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override { top[0]->ReshapeLike(*bottom[0]); }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T slope = Slope();
    if (bottom[0] == top[0]) {
      ParallelFor(
          place, top[0]->count(), ReadWrite(*top[0]),
          KOKKOS_LAMBDA(std::int64_t i, T * y) { y[i] = y[i] > 0 ? y[i] : slope * y[i]; });
    } else {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = x[i] > 0 ? x[i] : slope * x[i]; });
    }
  }

  /// In place the top tells the sign, too.
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T slope = Slope();
    if (bottom[0] == top[0]) {
      ParallelFor(
          place, top[0]->count(), Read(*top[0]), ReadWrite(Diff(*top[0])),
          KOKKOS_LAMBDA(std::int64_t i, const T* y, T* dy) { dy[i] *= RectifierSlope(y[i], slope); });
    } else {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* dy, T* dx) {
            dx[i] = dy[i] * RectifierSlope(x[i], slope);
          });
    }
  }

 private:
  T Slope() const { return static_cast<T>(this->layer_param().relu_param().negative_slope()); }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(ReLU);

}  // namespace ferry::detail
