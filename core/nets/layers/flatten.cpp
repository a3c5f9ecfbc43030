// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"

namespace ferry::detail {
namespace {

/// The axes from `axis` to `end_axis`, both included, made one.
///
/// Parameters: flatten_param { axis: 1 end_axis: -1 }; an end_axis just before axis inserts an axis of 1.
/// Bottoms: 1.
/// Tops: 1, which shares data and diff; not the bottom. If propagate_down is false, the first Backward gives
/// the bottom the diff of the top. Until then they differ; after that the bottom shares it with nobody else,
/// such as the Parameter that had made it.
/// Caffe: shares the diff in Backward only, so that a layer in front of it that shares diffs, such as
/// Reshape, loses its gradient.
template <class T>
class FlattenLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Flatten"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const FlattenParameter& param = this->layer_param().flatten_param();
    const int first = bottom[0]->CanonicalAxisIndex(param.axis());
    const int end = bottom[0]->CanonicalAxisIndex(param.end_axis()) + 1;
    if (end < first)
      this->Fail("axis " + std::to_string(param.axis()) + " comes after end_axis " +
                 std::to_string(param.end_axis()) + " in shape " + bottom[0]->shape_string());
    const Shape& from = bottom[0]->shape();
    std::vector<std::int64_t> shape(from.begin(), from.begin() + first);
    shape.push_back(bottom[0]->count(first, end));
    shape.insert(shape.end(), from.begin() + end, from.end());
    top[0]->Reshape(shape);
    top[0]->ShareData(*bottom[0]);
    if (!IsToldNot()) top[0]->ShareDiff(*bottom[0]);
  }

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& /*top*/) override {}
  void BackwardAt(const Place& /*place*/, const Blobs& top, const std::vector<bool>& /*propagate_down*/,
                  const Blobs& bottom) override {
    if (IsToldNot()) bottom[0]->ShareDiff(*top[0]);
  }

 private:
  bool IsToldNot() const {
    const LayerParameter& layer = this->layer_param();
    return layer.propagate_down_size() != 0 && !layer.propagate_down(0);
  }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Flatten);

}  // namespace ferry::detail
