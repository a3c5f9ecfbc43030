// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "core/nets/layers/layers.hpp"
#include "core/nets/vision/chunk.hpp"

namespace ferry::detail {
namespace {

/// Where a part of an array begins along each axis, and how large both are. A value; kernels copy it.
struct CropSizes {
  int axes = 0;
  std::int64_t whole[kMaxBlobAxes]{}, part[kMaxBlobAxes]{}, offset[kMaxBlobAxes]{};

  /// The offset in the whole of line number `line` of the part: all axes but the last.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t LineOfWhole(std::int64_t line) const {
    std::int64_t size = whole[axes - 1], at = offset[axes - 1];
    for (int axis = axes - 2; axis >= 0; --axis) {
      at += (line % part[axis] + offset[axis]) * size;
      line /= part[axis];
      size *= whole[axis];
    }
    return at;
  }
};

/// y = the part of x that has the size of the second bottom from `axis` on, and begins at `offset`.
///
/// Parameters: crop_param { axis: 2, the first that is cropped; offset: 0, once or for each axis from there
/// on }.
/// Bottoms: 2: x, and a blob of whose shape the axes from `axis` on count.
/// Tops: 1: x's axes before `axis`, then the second bottom's.
/// Gradient: 0 outside of the part. The second bottom has none.
template <class T>
class CropLayer final : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "Crop"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }

  void Reshape(const Blobs& bottom, const Blobs& top) override {
    this->RequireApart(bottom, top);
    const CropParameter& param = this->layer_param().crop_param();
    const Blob<T>&x = *bottom[0], &like = *bottom[1];
    const int first = x.CanonicalAxisIndex(param.axis());
    if (param.offset_size() > 1 && first + param.offset_size() != x.num_axes())
      this->Fail("there are " + std::to_string(param.offset_size()) + " offset for " +
                 std::to_string(x.num_axes() - first) + " axes to crop; give none, one, or one for each");
    if (like.num_axes() < x.num_axes())
      this->Fail("bottom 0 has shape " + x.shape_string() + ", bottom 1 " + like.shape_string() +
                 "; bottom 1 must have as many axes");
    sizes_ = {};
    sizes_.axes = x.num_axes();
    std::vector<std::int64_t> dims = x.shape();
    for (int axis = 0; axis < sizes_.axes; ++axis) {
      std::int64_t& part = dims[static_cast<std::size_t>(axis)];
      sizes_.whole[axis] = part;
      if (axis >= first) {
        part = like.shape(axis);
        if (param.offset_size() != 0)
          sizes_.offset[axis] = param.offset(param.offset_size() == 1 ? 0 : axis - first);
        if (sizes_.offset[axis] + part > sizes_.whole[axis])
          this->Fail("along axis " + std::to_string(axis) + ", offset " +
                     std::to_string(sizes_.offset[axis]) + " and size " + std::to_string(part) +
                     " reach beyond the " + std::to_string(sizes_.whole[axis]) + " of bottom 0");
      }
      sizes_.part[axis] = part;
    }
    top[0]->Reshape(dims);
  }

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override {
    const std::int64_t count = top[0]->count(), width = top[0]->shape(-1);
    if (count == 0) return;
    const Chunks chunks(place, width, width);
    const CropSizes sizes = sizes_;
    ParallelFor(
        place, count / width * chunks.per_line, Read(*bottom[0]), Overwrite(*top[0]),
        KOKKOS_LAMBDA(std::int64_t index, const T* x, T* y) {
          const auto [line, first, last] = chunks[index];
          const T* const from = x + sizes.LineOfWhole(line);
          T* const to = y + line * width;
          for (std::int64_t i = first; i < last; ++i) to[i] = from[i];
        });
  }

  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override {
    if (!propagate_down[0]) return;
    Set(place, T(0), Diff(*bottom[0]));
    const std::int64_t count = top[0]->count(), width = top[0]->shape(-1);
    if (count == 0) return;
    const Chunks chunks(place, width, width);
    const CropSizes sizes = sizes_;
    ParallelFor(
        place, count / width * chunks.per_line, Read(Diff(*top[0])), ReadWrite(Diff(*bottom[0])),
        KOKKOS_LAMBDA(std::int64_t index, const T* dy, T* dx) {
          const auto [line, first, last] = chunks[index];
          const T* const from = dy + line * width;
          T* const to = dx + sizes.LineOfWhole(line);
          for (std::int64_t i = first; i < last; ++i) to[i] = from[i];
        });
  }

 private:
  CropSizes sizes_;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Crop);

}  // namespace ferry::detail
