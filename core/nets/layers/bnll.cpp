// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = log(1 + e^x), the binomial normal log likelihood.
///
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Gradient: e^x / (1 + e^x) times the top's, with min(x, 50) for x.
/// Caffe: far below 0 its values have fewer digits, as e^x is lost beside the 1.
template <class T>
class BNLLLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "BNLL"; }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* y) {
          const T power = std::exp(-std::abs(x[i])), sum = T(1) + power;
          y[i] = (x[i] > 0 ? x[i] : T(0)) + (sum == T(1) ? power : std::log(sum) * (power / (sum - T(1))));
        });
  }

  /// In place, x is the top.
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Read(Diff(*top[0])), Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, const T* dy, T* dx) {
          const T power = std::exp(x[i] > T(50) ? T(50) : x[i]);
          dx[i] = dy[i] * power / (power + T(1));
        });
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(BNLL);

}  // namespace ferry::detail
