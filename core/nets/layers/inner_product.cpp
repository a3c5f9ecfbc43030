// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "core/nets/layers/columns.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/layers.pb.h"

namespace ferry::detail {
namespace {

/// From so many weights on, which no cache holds, one row of a bottom is multiplied by DotOfRow: BLAS first
/// copies the weights, which takes several times as long as to read them once.
inline constexpr std::int64_t kManyWeights = std::int64_t{1} << 20U;

/// y(row) = w(row) x + bias(row), of k elements; no bias: null.
template <class T>
struct DotOfRow {
  std::int64_t k;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* w, const T* x, const T* bias,
                                         T* y) const {
    w += row * k;
    T lane[kRun] = {};
    std::int64_t j = 0;
    for (; j + kRun <= k; j += kRun)
      for (int l = 0; l < kRun; ++l) lane[l] += w[j + l] * x[j + l];
    for (; j < k; ++j) lane[0] += w[j] * x[j];
    T sum = bias != nullptr ? bias[row] : T(0);
    for (const T part : lane) sum += part;
    y[row] = sum;
  }
};

/// y = x W^T + b, for each of the m rows that the dims before the axis make up.
///
/// Parameters: inner_product_param { num_output: required, bias_term: true, weight_filler: constant 0,
/// bias_filler: constant 0, axis: 1, transpose: false }.
/// Weights: W, num_output x k, where k is the product of the bottom's dims from the axis on, or k x
/// num_output for transpose; b, num_output, unless bias_term is false.
/// Bottoms: 1, with that axis.
/// Tops: 1,
/// of the bottom's dims before the axis, and num_output.
template <class T>
class InnerProductLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "InnerProduct"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& bottom, const Blobs& /*top*/) override {
    const InnerProductParameter& param = this->layer_param().inner_product_param();
    n_ = param.num_output();
    if (n_ == 0) this->Fail("inner_product_param { num_output: 0 }; it must be 1 or more");
    k_ = bottom[0]->count(bottom[0]->CanonicalAxisIndex(param.axis()));
    auto& blobs = this->blobs_;
    if (blobs.empty()) {
      Device& device = this->place().device();
      const Shape shape = param.transpose() ? Shape{k_, n_} : Shape{n_, k_};
      blobs.push_back(std::make_shared<Blob<T>>(shape, device));
      this->FillBlob(param.weight_filler(), blobs[0].get());
      if (param.bias_term()) {
        blobs.push_back(std::make_shared<Blob<T>>(Shape{n_}, device));
        this->FillBlob(param.bias_filler(), blobs[1].get());
      }
    }
    if (blobs.size() < (param.bias_term() ? 2 : 1) || blobs[0]->count() != n_ * k_ ||
        (param.bias_term() && blobs[1]->count() != n_))
      this->Fail("its blobs do not fit num_output: " + std::to_string(n_) + " for " + std::to_string(k_) +
                 " inputs" + (param.bias_term() ? "" : " without bias"));
    for (int i = 0; i < static_cast<int>(blobs.size()); ++i) this->set_param_propagate_down(i, true);
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const int axis = bottom[0]->CanonicalAxisIndex(this->layer_param().inner_product_param().axis());
    if (bottom[0]->count(axis) != k_)
      this->Fail("bottom 0 has shape " + bottom[0]->shape_string() + ", with " +
                 std::to_string(bottom[0]->count(axis)) + " elements from axis " + std::to_string(axis) +
                 " on; the weights are for " + std::to_string(k_));
    m_ = bottom[0]->count(0, axis);
    std::vector<std::int64_t> shape(bottom[0]->shape().begin(), bottom[0]->shape().begin() + axis);
    shape.push_back(n_);
    top[0]->Reshape(shape);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const Blob<T>& weight = *this->blobs_[0];
    const bool has_bias = HasBias();
    if (!OnGpuThreads(place) && m_ == 1 && !IsTransposed() && n_ * k_ >= kManyWeights) {
      ParallelFor(place, n_, Read(weight), Read(*bottom[0]), Read(has_bias ? *this->blobs_[1] : none_),
                  Overwrite(*top[0]), DotOfRow<T>{k_});
      return;
    }
    if (has_bias) Spread(place, *this->blobs_[1], *top[0]);  // Gemm adds to it: one pass over the top less
    Gemm(place, Transpose::kNo, IsTransposed() ? Transpose::kNo : Transpose::kYes, m_, n_, k_, 1, *bottom[0],
         weight, has_bias ? 1 : 0, *top[0]);
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    Blob<T>& weight = *this->blobs_[0];
    if (this->param_propagate_down(0)) {
      if (IsTransposed())
        Gemm(place, Transpose::kYes, Transpose::kNo, k_, n_, m_, 1, *bottom[0], Diff(*top[0]), 1,
             Diff(weight));
      else
        Gemm(place, Transpose::kYes, Transpose::kNo, n_, k_, m_, 1, Diff(*top[0]), *bottom[0], 1,
             Diff(weight));
    }
    if (HasBias() && this->param_propagate_down(1)) AddRows(place, m_, n_, *top[0], *this->blobs_[1]);
    if (propagate_down[0])
      Gemm(place, Transpose::kNo, IsTransposed() ? Transpose::kYes : Transpose::kNo, m_, k_, n_, 1,
           Diff(*top[0]), weight, 0, Diff(*bottom[0]));
  }

  void Spread(const Place& place, const Blob<T>& bias, Blob<T>& top) const {
    ParallelFor(
        place, {m_, n_}, Read(bias, {n_}), Overwrite(top, {m_, n_}),
        KOKKOS_LAMBDA(std::int64_t m, std::int64_t n, View<const T, 1> b, View<T, 2> y) { y(m, n) = b(n); });
  }

 private:
  /// Without bias_term a second blob stays as it is, as in Caffe.
  bool HasBias() const { return this->layer_param().inner_product_param().bias_term(); }
  bool IsTransposed() const { return this->layer_param().inner_product_param().transpose(); }

  const Blob<T> none_{};  ///< in place of a bias
  std::int64_t m_ = 0;
  std::int64_t n_ = 0;
  std::int64_t k_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(InnerProduct);

}  // namespace ferry::detail
