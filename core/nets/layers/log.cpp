// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = log(shift + scale * x), to a base.
///
/// Parameters: log_param { base: -1 (e), scale: 1, shift: 0 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: in place, as in Caffe: the square of the derivative, without the top's, and with y for x.
/// Caffe: its BLAS decides what scale: 0 makes of infinity and not-a-number; here both become not-a-number.
template <class T>
class LogLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Log"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const LogParameter& param = this->layer_param().log_param();
    factor_ = T(1) / LogOfBase(param.base());
    scale_ = static_cast<T>(param.scale());
    shift_ = static_cast<T>(param.shift());
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T scale = scale_;
    const T shift = Addend(shift_);
    const T factor = factor_;
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = factor * std::log(scale * x[i] + shift); });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T scale = scale_;
    const T shift = Addend(shift_);
    const T factor = factor_ * scale_;
    const bool in_place = bottom[0] == top[0];
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* dy, T* dx) {
          const T slope = factor / (scale * x[i] + shift);
          dx[i] = slope * (in_place ? slope : dy[i]);
        });
  }

 private:
  /// The logarithm of the base, where -1 stands for e.
  T LogOfBase(float base) const {
    if (base == -1.0F) return T(1);
    const T log = std::log(static_cast<T>(base));
    if (!(base > 0) || !std::isfinite(log) || log == T(0))
      this->Fail("log_param.base is " + std::to_string(base) +
                 "; it is -1, for e, or a finite number over 0 and not 1");
    return log;
  }

  T scale_{1}, shift_{0}, factor_{1};
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Log);

}  // namespace ferry::detail
