// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "core/nets/layers/layers.hpp"
#include "core/nets/layers/neuron_layer.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// y = x / (1 + e^(-beta * x)).
///
/// Parameters: swish_param { beta: 1 }.
/// Bottoms: 1, of any shape.
/// Tops: 1, of that shape; may be the bottom.
/// Caffe: far below 0 its values have fewer digits, as Sigmoid's have.
template <class T>
class SwishLayer : public NeuronLayer<T> {
 public:
  using NeuronLayer<T>::NeuronLayer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Swish"; }
  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    sigmoid_ = Blob<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    NeuronLayer<T>::Reshape(bottom, top);
    sigmoid_.ReshapeLike(*bottom[0]);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const T beta = Beta();
    ParallelFor(
        place, top[0]->count(), Read(*bottom[0]), Overwrite(sigmoid_), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t i, const T* x, T* s, T* y) {
          s[i] = T(1) / (T(1) + std::exp(-beta * x[i]));
          y[i] = x[i] * s[i];
        });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    const T beta = Beta();
    ParallelFor(
        place, top[0]->count(), Read(*top[0]), Read(sigmoid_), Read(Diff(*top[0])),
        Overwrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t i, const T* y, const T* s, const T* dy, T* dx) {
          dx[i] = dy[i] * (beta * y[i] + s[i] * (T(1) - beta * y[i]));
        });
  }

 private:
  T Beta() const { return static_cast<T>(this->layer_param().swish_param().beta()); }

  Blob<T> sigmoid_;  ///< of beta * x
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Swish);

}  // namespace ferry::detail
