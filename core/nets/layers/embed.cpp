// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "core/nets/layers/columns.hpp"
#include "core/nets/layers/labels.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/layers.pb.h"

namespace ferry::detail {
namespace {

/// to[j] = x[j] + y[j], where `to` may be x.
template <int kWidth, class T>
KOKKOS_INLINE_FUNCTION void AddRun(const T* x, const T* y, T* to) {
  T sum[kWidth] = {};
  for (int w = 0; w < kWidth; ++w) sum[w] = x[w] + y[w];
  for (int w = 0; w < kWidth; ++w) to[w] = sum[w];
}
template <class T>
KOKKOS_INLINE_FUNCTION void AddRange(std::int64_t first, std::int64_t last, const T* x, const T* y, T* to) {
  for (; first + kRun <= last; first += kRun) AddRun<kRun>(x + first, y + first, to + first);
  for (; first < last; ++first) to[first] = x[first] + y[first];
}

/// y(m) = W(index(m)) + b: rows of a table, by their numbers.
///
/// Parameters: embed_param { num_output: required, input_dim: required, bias_term: true, weight_filler:
/// constant 0, bias_filler: constant 0 }.
/// Weights: W, input_dim x num_output; b, num_output, unless bias_term is false.
/// Bottoms: indices, 0 up to, not including, input_dim, in any shape; truncated to integers.
/// Tops: 1, of that shape and one more axis of num_output.
/// Gradient: the indices have none. An index without a row is an error. On a GPU it makes its row of the top
/// not-a-number, and adds to no gradient; if the net's loss then is not-a-number, the pass throws, unless
/// activations are shared.
template <class T>
class EmbedLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Embed"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const EmbedParameter& param = this->layer_param().embed_param();
    n_ = param.num_output();
    rows_ = param.input_dim();
    if (n_ == 0 || rows_ == 0)
      this->Fail("embed_param { num_output: " + std::to_string(n_) + " input_dim: " + std::to_string(rows_) +
                 " }; both must be 1 or more");
    auto& blobs = this->blobs_;
    if (blobs.empty()) {
      Device& device = this->place().device();
      blobs.push_back(std::make_shared<Blob<T>>(Shape{rows_, n_}, device));
      this->FillBlob(param.weight_filler(), blobs[0].get());
      if (param.bias_term()) {
        blobs.push_back(std::make_shared<Blob<T>>(Shape{n_}, device));
        this->FillBlob(param.bias_filler(), blobs[1].get());
      }
    }
    if (blobs.size() < (param.bias_term() ? 2 : 1) || blobs[0]->count() != rows_ * n_ ||
        (param.bias_term() && blobs[1]->count() != n_))
      this->Fail("its blobs do not fit a table of " + std::to_string(rows_) + " x " + std::to_string(n_) +
                 (param.bias_term() ? " and a bias" : " without bias"));
    for (int i = 0; i < static_cast<int>(blobs.size()); ++i) this->set_param_propagate_down(i, true);
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    std::vector<std::int64_t> shape(bottom[0]->shape().begin(), bottom[0]->shape().end());
    shape.push_back(n_);
    top[0]->Reshape(shape);
  }

  void CheckValues(const Blobs& bottom) const override {
    const std::string wrong = WrongLabel(*bottom[0], {rows_}, {"index", "rows"});
    if (!wrong.empty()) this->Fail(wrong);
  }
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const Labels labels{rows_};
    const std::int64_t n = n_;
    const Parts parts = Parts::Of(place, n);
    const Blob<T>& weight = *this->blobs_[0];
    const bool has_bias = HasBias();
    const Blob<T>& bias = *this->blobs_[has_bias ? 1 : 0];
    ParallelFor(
        place, bottom[0]->count() * parts.count, Read(*bottom[0]), Read(weight), Read(bias),
        Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t at, const T* index, const T* table, const T* add, T* y) {
          const std::int64_t m = at / parts.count;
          const std::int64_t row = labels.Class(index[m]);
          const std::int64_t first = parts.First(at % parts.count);
          const std::int64_t last = parts.Last(at % parts.count);
          if (row >= 0 && has_bias) return AddRange(first, last, table + row * n, add, y + m * n);
          for (std::int64_t j = first; j < last; ++j) y[m * n + j] = row < 0 ? kNan<T> : table[row * n + j];
        });
  }

  /// Each part of a row goes through all indices in their order: no two threads write to one element.
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (propagate_down[0]) this->Fail("bottom 0 is to get a gradient, and indices have none");
    const std::int64_t count = bottom[0]->count();
    const std::int64_t n = n_;
    if (this->param_propagate_down(0)) {
      const Labels labels{rows_};
      const Parts parts = Parts::Of(place, n);
      ParallelFor(
          place, parts.count, Read(*bottom[0]), Read(Diff(*top[0])), ReadWrite(Diff(*this->blobs_[0])),
          KOKKOS_LAMBDA(std::int64_t part, const T* index, const T* dy, T* table) {
            const std::int64_t first = parts.First(part);
            const std::int64_t last = parts.Last(part);
            for (std::int64_t m = 0; m < count; ++m) {
              const std::int64_t row = labels.Class(index[m]);
              if (row < 0) continue;
              AddRange(first, last, table + row * n, dy + m * n, table + row * n);
            }
          });
    }
    if (HasBias() && this->param_propagate_down(1)) AddRows(place, count, n, *top[0], *this->blobs_[1]);
  }

 private:
  /// Without bias_term a second blob stays as it is, as in Caffe.
  bool HasBias() const { return this->layer_param().embed_param().bias_term(); }

  std::int64_t n_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Embed);

}  // namespace ferry::detail
