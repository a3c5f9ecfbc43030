// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The same elements in another shape: `num_axes` axes from `axis` on become those of `shape`.
///
/// Parameters: reshape_param { shape: none axis: 0 num_axes: -1 }. A dim of 0 is the bottom's at the same
/// number, counted from `axis`; one dim may be -1, and is what the others leave. num_axes: -1 means all that
/// follow. A negative axis counts from the end, of which -1 is past the last axis.
/// Bottoms: 1.
/// Tops: 1, which shares data and diff; not the bottom.
template <class T>
class ReshapeLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Reshape"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    const auto& dims = Param().shape().dim();
    if (std::count(dims.begin(), dims.end(), -1) > 1)
      this->Fail("reshape_param's shape has -1 more than once; one dim can be what the others leave");
    for (const std::int64_t dim : dims)
      if (dim < -1)
        this->Fail("reshape_param's shape has dim " + std::to_string(dim) +
                   "; a dim is positive, 0 for the bottom's, or -1 for what the others leave");
  }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const Shape& from = bottom[0]->shape();
    const int first = First(from.num_axes());
    const int end = End(first, from.num_axes());
    std::vector<std::int64_t> shape(from.begin(), from.begin() + first);
    for (const std::int64_t dim : Param().shape().dim()) shape.push_back(dim == 0 ? Same(from, shape) : dim);
    shape.insert(shape.end(), from.begin() + end, from.end());
    Infer(from, &shape);
    if (Shape(shape).count() != from.count())
      this->Fail("bottom 0 has shape " + from.ToString() + ", and the top would have " +
                 Shape(shape).ToString() + "; the counts must be equal");
    top[0]->Reshape(shape);
    top[0]->ShareData(*bottom[0]);
    top[0]->ShareDiff(*bottom[0]);
  }

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& /*top*/) override {}
  void BackwardAt(const Place& /*place*/, const Blobs& /*top*/, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& /*bottom*/) override {}

 private:
  const ReshapeParameter& Param() const { return this->layer_param().reshape_param(); }

  int First(int axes) const {
    const int axis = Param().axis();
    const int first = axis >= 0 ? axis : axes + axis + 1;
    if (first < 0 || first > axes)
      this->Fail("reshape_param's axis is " + std::to_string(axis) + "; bottom 0 has " +
                 std::to_string(axes) + " axes, so it is " + std::to_string(-axes - 1) + " to " +
                 std::to_string(axes));
    return first;
  }
  int End(int first, int axes) const {
    const int count = Param().num_axes();
    if (count == -1) return axes;
    if (count < -1 || count > axes - first)
      this->Fail("reshape_param's num_axes is " + std::to_string(count) + "; from axis " +
                 std::to_string(first) + " on bottom 0 has " + std::to_string(axes - first) +
                 " axes, and -1 means all of them");
    return first + count;
  }
  /// The bottom's dim at the number of the one that comes next.
  std::int64_t Same(const Shape& from, const std::vector<std::int64_t>& shape) const {
    if (shape.size() >= from.size())
      this->Fail("reshape_param's shape has a 0 for axis " + std::to_string(shape.size()) +
                 ", which bottom 0, of shape " + from.ToString() + ", does not have");
    return from[shape.size()];
  }
  void Infer(const Shape& from, std::vector<std::int64_t>* shape) const {
    const auto inferred = std::find(shape->begin(), shape->end(), -1);
    if (inferred == shape->end()) return;
    *inferred = 1;
    const std::int64_t others = Shape(*shape).count();
    if (others == 0 || from.count() % others != 0)
      this->Fail("bottom 0 has shape " + from.ToString() +
                 ", whose count does not divide by that of the dims besides -1, " + std::to_string(others));
    *inferred = from.count() / others;
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Reshape);

}  // namespace ferry::detail
