// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/copy_rows.hpp"
#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The bottoms one after the other along an axis.
///
/// Parameters: concat_param { axis: 1 }; or concat_dim, its old name.
/// Bottoms: 1 or more, of shapes that differ along the axis alone.
/// Tops: 1; of a single bottom, it shares data and diff.
template <class T>
class ConcatLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Concat"; }
  int MinBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const ConcatParameter& param = this->layer_param().concat_param();
    if (param.has_axis() && param.has_concat_dim())
      this->Fail("concat_param has axis and concat_dim, which are one thing; say axis");
  }
  void Reshape(const Blobs& bottom, const Blobs& top) override {
    if (bottom.size() > 1) this->RequireApart(bottom, top);  // one bottom is shared
    axis_ = Axis(*bottom[0]);
    std::vector<std::int64_t> shape = bottom[0]->shape();
    for (std::size_t i = 1; i < bottom.size(); ++i) {
      RequireAlike(*bottom[0], *bottom[i], i);
      shape[static_cast<std::size_t>(axis_)] += bottom[i]->shape(axis_);
    }
    top[0]->Reshape(shape);
    if (bottom.size() > 1) return;
    top[0]->ShareData(*bottom[0]);
    top[0]->ShareDiff(*bottom[0]);
  }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    if (bottom.size() == 1) return;
    const std::int64_t rows = top[0]->count(0, axis_);
    const std::int64_t width = top[0]->count(axis_);
    std::int64_t first = 0;
    for (const Blob<T>* const part : bottom) {
      const std::int64_t count = part->count(axis_);
      // The old elements are of no use: the bottoms together write them all.
      const auto all = first == 0 ? Overwrite(*top[0], {rows, width}) : ReadWrite(*top[0], {rows, width});
      CopyRows<T>(place, rows, count, {Read(*part, {rows, count}), 0}, {all, first});
      first += count;
    }
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (bottom.size() == 1) return;
    const std::int64_t rows = top[0]->count(0, axis_);
    const std::int64_t width = top[0]->count(axis_);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < bottom.size(); ++i) {
      const std::int64_t count = bottom[i]->count(axis_);
      if (propagate_down[i])
        CopyRows<T>(place, rows, count, {Read(Diff(*top[0]), {rows, width}), first},
                    {Overwrite(Diff(*bottom[i]), {rows, count}), 0});
      first += count;
    }
  }

 private:
  int Axis(const Blob<T>& blob) const {
    const ConcatParameter& param = this->layer_param().concat_param();
    if (!param.has_concat_dim()) return blob.CanonicalAxisIndex(param.axis());
    if (param.concat_dim() >= static_cast<std::uint32_t>(blob.num_axes()))
      this->Fail("concat_dim is " + std::to_string(param.concat_dim()) + "; bottom 0 has " +
                 std::to_string(blob.num_axes()) + " axes");
    return static_cast<int>(param.concat_dim());
  }
  void RequireAlike(const Blob<T>& first, const Blob<T>& other, std::size_t number) const {
    bool alike = first.num_axes() == other.num_axes();
    for (int axis = 0; alike && axis < first.num_axes(); ++axis)
      alike = axis == axis_ || first.shape(axis) == other.shape(axis);
    if (!alike)
      this->Fail("bottom 0 has shape " + first.shape_string() + ", bottom " + std::to_string(number) +
                 " has " + other.shape_string() + "; they may differ along axis " + std::to_string(axis_) +
                 " alone");
  }

  int axis_ = 0;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Concat);

}  // namespace ferry::detail
