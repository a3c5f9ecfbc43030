// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "core/nets/layers/layers.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

/// The indices of the top_k largest elements of each item, or along an axis, the largest first; of those that
/// are equal, the one with the larger index first.
///
/// Parameters: argmax_param { out_max_val: false top_k: 1 axis: none }.
/// Bottoms: 1.
/// Tops: 1. Without axis: (N, 1, top_k), with out_max_val (N, 2, top_k): indices, then values. With axis: the
/// bottom's shape with top_k along it, of indices or, with out_max_val, of values.
/// Gradient: none.
/// Caffe: leaves the order open where an element is not-a-number; here that one is equal to all others.
template <class T>
class ArgMaxLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "ArgMax"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    best_ = Blob<std::int64_t>(this->place().device());
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const Shape& from = bottom[0]->shape();
    top_k_ = Param().top_k();
    std::vector<std::int64_t> shape;
    if (Param().has_axis()) {
      const int axis = bottom[0]->CanonicalAxisIndex(Param().axis());
      items_ = bottom[0]->count(0, axis);
      length_ = bottom[0]->shape(axis);
      stride_ = bottom[0]->count(axis + 1);
      shape = from;
      shape[static_cast<std::size_t>(axis)] = top_k_;
    } else {
      items_ = bottom[0]->shape(0);
      length_ = bottom[0]->count(1);
      stride_ = 1;
      shape.assign(std::max<std::size_t>(3, from.size()), 1);
      shape[0] = items_;
      shape[1] = Param().out_max_val() ? 2 : 1;
      shape[2] = top_k_;
    }
    if (top_k_ < 1 || top_k_ > length_)
      this->Fail("argmax_param's top_k is " + std::to_string(top_k_) + "; of bottom 0, shape " +
                 bottom[0]->shape_string() + ", it is 1 to " + std::to_string(length_));
    top[0]->Reshape(shape);
    best_.Reshape({items_ * stride_, top_k_});
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    Find(place, *bottom[0]);
    const std::int64_t stride = stride_;
    const std::int64_t length = length_;
    const std::int64_t top_k = top_k_;
    const bool axis = Param().has_axis();
    const bool indices = !axis || !Param().out_max_val();
    const bool values = Param().out_max_val();
    const std::int64_t size = axis || !values ? top_k : 2 * top_k;
    const std::int64_t first_value = axis ? 0 : top_k;
    ParallelFor(
        place, {items_ * stride_, top_k_}, Read(*bottom[0], {items_ * length_ * stride_}),
        Read(best_, {items_ * stride_, top_k_}), Overwrite(*top[0], {top[0]->count()}),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t k, View<const T, 1> x, View<const std::int64_t, 2> best,
                      View<T, 1> y) {
          const std::int64_t item = i / stride;
          const std::int64_t inner = i % stride;
          const std::int64_t to = (item * size + k) * stride + inner;
          if (indices) y(to) = static_cast<T>(best(i, k));
          if (values) y(to + first_value) = x((item * length + best(i, k)) * stride + inner);
        });
  }

  /// Keeps the best so far in order, so that most elements are compared with the last of them alone.
  void Find(const Place& place, const Blob<T>& bottom) {
    const std::int64_t stride = stride_;
    const std::int64_t length = length_;
    const std::int64_t top_k = top_k_;
    ParallelFor(
        place, items_ * stride_, Read(bottom), Overwrite(best_),
        KOKKOS_LAMBDA(std::int64_t i, const T* all, std::int64_t* all_best) {
          const T* const x = all + i / stride * length * stride + i % stride;
          std::int64_t* const best = all_best + i * top_k;
          std::int64_t found = 0;
          T last = x[0];  // the worst of the best
          for (std::int64_t j = 0; j < length; ++j) {
            const T value = x[j * stride];
            if (found == top_k && value < last) continue;
            std::int64_t at = found < top_k ? found++ : top_k - 1;
            for (; at > 0 && !(value < x[best[at - 1] * stride]); --at) best[at] = best[at - 1];
            best[at] = j;
            last = x[best[found - 1] * stride];
          }
        });
  }

 private:
  const ArgMaxParameter& Param() const { return this->layer_param().argmax_param(); }

  Blob<std::int64_t> best_;  ///< indices, for each item
  std::int64_t top_k_ = 0;
  std::int64_t items_ = 0;
  std::int64_t length_ = 0;
  std::int64_t stride_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(ArgMax);

}  // namespace ferry::detail
