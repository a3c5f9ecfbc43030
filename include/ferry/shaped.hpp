// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "ferry/shape.hpp"

namespace ferry {

/// The shape of a Blob, and what Caffe's Blob says of it.
class Shaped {
 public:
  Shaped(const Shaped&) = delete;
  Shaped& operator=(const Shaped&) = delete;

  /// The dims; none without a shape.
  const Shape& shape() const noexcept { return shape_; }
  /// The dim of an axis, of which -1 is the last one, here and below.
  std::int64_t shape(int axis) const {
    return shape_.begin()[shape_.CanonicalAxisIndex(axis, "Blob::shape")];
  }
  /// 0 to 32.
  int num_axes() const noexcept { return shape_.num_axes(); }
  /// The product of the dims from axis `start` up to, not including, `end`, neither of which is negative.
  std::int64_t count(int start, int end) const { return shape_.count(start, end, "Blob::count"); }
  /// The same up to the last axis.
  std::int64_t count(int start) const { return count(start, num_axes()); }
  /// The axis, counted from 0.
  int CanonicalAxisIndex(int axis) const {
    return shape_.CanonicalAxisIndex(axis, "Blob::CanonicalAxisIndex");
  }
  /// The dims of a blob of at most four axes; those that it lacks are 1, at the end, or for a negative axis
  /// at the beginning.
  std::int64_t LegacyShape(int axis) const { return shape_.Legacy(axis, "Blob::LegacyShape"); }
  /// LegacyShape(0)
  std::int64_t num() const { return shape_.Legacy(0, "Blob::num"); }
  /// LegacyShape(1)
  std::int64_t channels() const { return shape_.Legacy(1, "Blob::channels"); }
  /// LegacyShape(2)
  std::int64_t height() const { return shape_.Legacy(2, "Blob::height"); }
  /// LegacyShape(3)
  std::int64_t width() const { return shape_.Legacy(3, "Blob::width"); }

  /// In elements. An index may equal its dim, one past the end, so that pointers to ends can be made.
  std::int64_t offset(std::int64_t n, std::int64_t c = 0, std::int64_t h = 0, std::int64_t w = 0) const {
    return Offset(Legacy{{n, c, h, w}}, detail::Bound::kPastEnd, "Blob::offset");
  }
  /// Indices that are missing are 0. An index may be any range of integers, or stand in braces.
  template <IntegerRange R = std::initializer_list<std::int64_t>>
  std::int64_t offset(const R& index) const {
    return Offset(index, detail::Bound::kPastEnd, "Blob::offset");
  }

 protected:
  /// @cond
  Shaped() = default;
  ~Shaped() = default;
  [[noreturn]] static void FailShapeless(const char* call);

  struct Legacy {
    std::array<std::int64_t, 4> index;
  };
  std::int64_t Offset(const Legacy& legacy, detail::Bound bound, const char* call) const {
    const std::array dims{shape_.Legacy(0, call), shape_.Legacy(1, call), shape_.Legacy(2, call),
                          shape_.Legacy(3, call)};
    return detail::Offset(dims, legacy.index, bound, call);
  }
  template <class R>
  std::int64_t Offset(const R& index, detail::Bound bound, const char* call) const {
    return detail::Offset(shape_, index, bound, call);
  }

  Shape shape_;
  /// @endcond
};

}  // namespace ferry
