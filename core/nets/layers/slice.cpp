// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "core/nets/layers/copy_rows.hpp"
#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The bottom cut into tops along an axis.
///
/// Parameters: slice_param { axis: 1 slice_point: the index that each top after the first one begins at; none
/// for equal parts }; slice_dim is axis' old name.
/// Bottoms: 1.
/// Tops: 1 or more; a single one shares the bottom's data and diff.
template <class T>
class SliceLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Slice"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const SliceParameter& param = this->layer_param().slice_param();
    if (param.has_axis() && param.has_slice_dim())
      this->Fail("slice_param has axis and slice_dim, which are one thing; say axis");
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    if (top.size() > 1) this->RequireApart(bottom, top);  // with one, the bottom is shared
    axis_ = Axis(*bottom[0]);
    std::vector<std::int64_t> shape = bottom[0]->shape();
    std::int64_t& dim = shape[static_cast<std::size_t>(axis_)];
    const std::int64_t all = dim;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < top.size(); ++i) {
      const std::int64_t end = End(i, top.size(), all);
      if (end < first || (end == first && i + 1 < top.size() && Points() != 0))
        this->Fail("top " + std::to_string(i) + " is to have indices " + std::to_string(first) + " to " +
                   std::to_string(end) + " of axis " + std::to_string(axis_) + " of bottom 0, shape " +
                   bottom[0]->shape_string() + "; slice points must rise and stay within the axis");
      dim = end - first;
      top[i]->Reshape(shape);
      first = end;
    }
    if (top.size() > 1) return;
    top[0]->ShareData(*bottom[0]);
    top[0]->ShareDiff(*bottom[0]);
  }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    if (top.size() == 1) return;
    const std::int64_t rows = bottom[0]->count(0, axis_);
    const std::int64_t width = bottom[0]->count(axis_);
    std::int64_t first = 0;
    for (Blob<T>* const part : top) {
      const std::int64_t count = part->count(axis_);
      // Where a pass before gave the top elements, it may be empty, as in Caffe.
      if (count == 0 && width != 0 && part->data()->capacity() == 0)
        this->Fail("a top has shape " + part->shape_string() +
                   ", without an element; the last slice point must be less than the " +
                   std::to_string(bottom[0]->shape(axis_)) + " of axis " + std::to_string(axis_));
      CopyRows<T>(place, rows, count, {Read(*bottom[0], {rows, width}), first},
                  {Overwrite(*part, {rows, count}), 0});
      first += count;
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0] || top.size() == 1) return;
    const std::int64_t rows = bottom[0]->count(0, axis_);
    const std::int64_t width = bottom[0]->count(axis_);
    std::int64_t first = 0;
    for (Blob<T>* const part : top) {
      const std::int64_t count = part->count(axis_);
      // The old elements are of no use: the tops together write them all.
      const auto all = first == 0 ? Overwrite(Diff(*bottom[0]), {rows, width})
                                  : ReadWrite(Diff(*bottom[0]), {rows, width});
      CopyRows<T>(place, rows, count, {Read(Diff(*part), {rows, count}), 0}, {all, first});
      first += count;
    }
  }

 private:
  int Axis(const Blob<T>& blob) const {
    const SliceParameter& param = this->layer_param().slice_param();
    if (!param.has_slice_dim()) return blob.CanonicalAxisIndex(param.axis());
    if (param.slice_dim() >= static_cast<std::uint32_t>(blob.num_axes()))
      this->Fail("slice_dim is " + std::to_string(param.slice_dim()) + "; bottom 0 has " +
                 std::to_string(blob.num_axes()) + " axes");
    return static_cast<int>(param.slice_dim());
  }
  int Points() const { return this->layer_param().slice_param().slice_point_size(); }
  /// One past the last index of a top.
  std::int64_t End(std::size_t top, std::size_t tops, std::int64_t dim) const {
    const auto number = static_cast<std::int64_t>(top);
    const auto count = static_cast<std::int64_t>(tops);
    if (Points() == 0) {
      if (dim % count != 0)
        this->Fail("axis " + std::to_string(axis_) + " of bottom 0 is " + std::to_string(dim) +
                   ", which does not divide by " + std::to_string(count) + " tops; say slice_point");
      return dim / count * (number + 1);
    }
    if (Points() != count - 1)
      this->Fail("slice_param has " + std::to_string(Points()) + " slice_point for " + std::to_string(count) +
                 " tops; say one less than there are tops, or none");
    if (count > dim)
      this->Fail("axis " + std::to_string(axis_) + " of bottom 0 is " + std::to_string(dim) + ", less than " +
                 std::to_string(count) + " tops");
    return number == count - 1 ? dim
                               : static_cast<std::int64_t>(
                                     this->layer_param().slice_param().slice_point(static_cast<int>(top)));
  }

  int axis_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Slice);

}  // namespace ferry::detail
