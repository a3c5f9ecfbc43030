// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = base^(shift + scale * x).
///
/// Parameters: exp_param { base: -1 (e), scale: 1, shift: 0 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Caffe: its BLAS decides what scale: 0 makes of infinity and not-a-number; here both become not-a-number.
template <class T>
class ExpLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Exp"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const ExpParameter& param = this->layer_param().exp_param();
    const T log_of_base = LogOfBase(param.base());
    inner_ = log_of_base * static_cast<T>(param.scale());
    const T shift = static_cast<T>(param.shift());
    outer_ = param.base() == -1.0F ? std::exp(shift) : std::pow(static_cast<T>(param.base()), shift);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T inner = inner_;
    const T outer = outer_;
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) { y[i] = outer * std::exp(inner * x[i]); });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T inner = inner_;
    ParallelFor(
        place, top[0]->count(), Read(*top[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* y, const T* dy, T* dx) { dx[i] = y[i] * dy[i] * inner; });
  }

 private:
  /// The logarithm of the base, where -1 stands for e.
  T LogOfBase(float base) const {
    if (base == -1.0F) return T(1);
    const T log = std::log(static_cast<T>(base));
    if (!(base > 0) || !std::isfinite(log))
      this->Fail("exp_param.base is " + std::to_string(base) +
                 "; it is -1, for e, or a finite number over 0");
    return log;
  }

  T inner_{1}, outer_{1};  ///< y = outer * e^(inner * x)
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Exp);

}  // namespace ferry::detail
