// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <string>

#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// One time step of an LSTM: c = cont s(f) c_prev + s(i) tanh(g) and h = s(o) tanh(c), where s is the
/// logistic function and i, f, o, g are the quarters of a row of x.
///
/// Bottoms: c_prev, 1 x n x d; x, 1 x n x 4d; cont, 1 x n, which is 0 where a sequence begins.
/// Tops: c and h, of the shape of c_prev.
/// Gradient: for c_prev and x; cont has none. If either gets one, both do.
template <class T>
class LSTMUnitLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "LSTMUnit"; }
  int ExactNumBottomBlobs() const override { return 3; }
  int ExactNumTopBlobs() const override { return 2; }
  bool AllowForceBackward(int bottom) const override { return bottom != 2; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    gates_ = Blob<T>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    const Shape& c = bottom[0]->shape();
    const bool fits = c.num_axes() == 3 && *c.begin() == 1;
    n_ = fits ? bottom[0]->shape(1) : 0;
    d_ = fits ? bottom[0]->shape(2) : 0;
    if (!fits || bottom[1]->shape() != Shape{1, n_, 4 * d_} || bottom[2]->shape() != Shape{1, n_})
      this->Fail("the bottoms have shapes " + bottom[0]->shape_string() + ", " + bottom[1]->shape_string() +
                 " and " + bottom[2]->shape_string() + "; they must be 1 x n x d, 1 x n x 4d and 1 x n");
    top[0]->ReshapeLike(*bottom[0]);
    top[1]->ReshapeLike(*bottom[0]);
    gates_.ReshapeLike(*bottom[1]);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::int64_t dim = d_;
    ParallelFor(
        place, {n_, d_}, Read(*bottom[0], {n_, d_}), Read(*bottom[1], {n_, 4 * d_}), Read(*bottom[2], {n_}),
        Overwrite(gates_, {n_, 4 * d_}), Overwrite(*top[0], {n_, d_}), Overwrite(*top[1], {n_, d_}),
        KOKKOS_LAMBDA(std::int64_t n, std::int64_t d, View<const T, 2> c_prev, View<const T, 2> x,
                      View<const T, 1> cont, View<T, 2> gates, View<T, 2> c, View<T, 2> h) {
          const T i = Logistic(x(n, d));
          const T f = cont(n) == 0 ? T(0) : cont(n) * Logistic(x(n, dim + d));
          const T o = Logistic(x(n, 2 * dim + d));
          const T g = Tanh(x(n, 3 * dim + d));
          gates(n, d) = i;
          gates(n, dim + d) = f;
          gates(n, 2 * dim + d) = o;
          gates(n, 3 * dim + d) = g;
          const T cell = f * c_prev(n, d) + i * g;
          c(n, d) = cell;
          h(n, d) = o * Tanh(cell);
        });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (propagate_down[2]) this->Fail("bottom 2 is to get a gradient, and has none");
    if (!propagate_down[0] && !propagate_down[1]) return;
    const std::int64_t dim = d_;
    ParallelFor(
        place, {n_, d_}, Read(*bottom[0], {n_, d_}), Read(gates_, {n_, 4 * d_}), Read(*top[0], {n_, d_}),
        Read(Diff(*top[0]), {n_, d_}), Read(Diff(*top[1]), {n_, d_}), Overwrite(Diff(*bottom[0]), {n_, d_}),
        Overwrite(Diff(*bottom[1]), {n_, 4 * d_}),
        KOKKOS_LAMBDA(std::int64_t n, std::int64_t d, View<const T, 2> c_prev, View<const T, 2> gates,
                      View<const T, 2> c, View<const T, 2> dc, View<const T, 2> dh, View<T, 2> dc_prev,
                      View<T, 2> dx) {
          const T i = gates(n, d);
          const T f = gates(n, dim + d);
          const T o = gates(n, 2 * dim + d);
          const T g = gates(n, 3 * dim + d);
          const T tanh_c = Tanh(c(n, d));
          const T dh_here = dh(n, d);
          const T cell = dc(n, d) + dh_here * o * (1 - tanh_c * tanh_c);
          const T before = c_prev(n, d);
          dc_prev(n, d) = cell * f;
          dx(n, d) = cell * g * i * (1 - i);
          dx(n, dim + d) = cell * before * f * (1 - f);
          dx(n, 2 * dim + d) = dh_here * tanh_c * o * (1 - o);
          dx(n, 3 * dim + d) = cell * i * (1 - g * g);
        });
  }

 private:
  KOKKOS_INLINE_FUNCTION static T Logistic(T x) { return T(1) / (T(1) + std::exp(-x)); }
  /// As Caffe computes it here: the C library has exp several times as fast as tanh.
  KOKKOS_INLINE_FUNCTION static T Tanh(T x) { return T(2) * Logistic(T(2) * x) - T(1); }

  std::int64_t n_ = 0;
  std::int64_t d_ = 0;
  Blob<T> gates_;  ///< i, f, o and g as they were used; f is times cont
};

}  // namespace

FERRY_NETS_MAKE_LAYER(LSTMUnit);

}  // namespace ferry::detail
