// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = (shift + scale * x)^power.
///
/// Parameters: power_param { power: 1, scale: 1, shift: 0 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: power * scale * y / (shift + scale * x) times the top's, which is not a number where x is at a
/// root. In place, as in Caffe: the square of that factor, without the top's, and with y for x.
template <class T>
class PowerLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Power"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const PowerParameter& param = this->layer_param().power_param();
    power_ = static_cast<T>(param.power());
    scale_ = static_cast<T>(param.scale());
    shift_ = static_cast<T>(param.shift());
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T power = power_;
    const T scale = scale_;
    const T shift = Addend(shift_);
    if (power * scale == T(0)) {
      Set(place, power == T(0) ? T(1) : std::pow(shift_, power), *top[0]);
    } else if (power == T(1)) {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = scale * x[i] + shift; });
    } else if (power == T(2)) {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) {
            const T root = scale * x[i] + shift;
            y[i] = root * root;
          });
    } else {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = std::pow(scale * x[i] + shift, power); });
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T scale = scale_;
    const T shift = Addend(shift_);
    const T factor = power_ * scale_;
    const bool in_place = bottom[0] == top[0];
    if (factor == T(0)) {
      Set(place, T(0), Diff(*bottom[0]));
    } else if (power_ == T(1)) {
      ParallelFor(
          place, top[0]->count(), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
          KOKKOS_LAMBDA(std::int64_t i, const T* dy, T* dx) {
            dx[i] = factor * (in_place ? factor : dy[i]);
          });
    } else if (power_ == T(2)) {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* dy, T* dx) {
            const T slope = factor * (scale * x[i] + shift);
            dx[i] = slope * (in_place ? slope : dy[i]);
          });
    } else {
      ParallelFor(
          place, top[0]->count(), Read(*bottom[0]), Read(*top[0]), Read(Diff(*top[0])),
          Overwrite(Diff(*bottom[0])),
          KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* y, const T* dy, T* dx) {
            const T slope = factor * (y[i] / (scale * x[i] + shift));
            dx[i] = slope * (in_place ? slope : dy[i]);
          });
    }
  }

 private:
  T power_{1}, scale_{1}, shift_{0};
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Power);

}  // namespace ferry::detail
