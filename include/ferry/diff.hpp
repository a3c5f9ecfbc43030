// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "ferry/blob_options.hpp"
#include "ferry/operand.hpp"

/// Blobs where arrays are wanted. Included by ferry/blob.hpp.
namespace ferry {

template <class T>
class Array;
template <class T>
class Blob;

/// What Diff(blob) is: its diff as it is when asked, for Read and its like and for kernels. Refers to the
/// blob, and must not outlive it.
template <class T>
class DiffOf {
 public:
  /// Diff is the short way.
  explicit DiffOf(const Blob<std::remove_const_t<T>>& blob)
    requires(std::is_const_v<T>)
      : blob_(&blob) {}
  /// @overload
  explicit DiffOf(Blob<T>& blob)
    requires(!std::is_const_v<T>)
      : blob_(&blob) {}
  /// For operands.
  detail::Part part() const noexcept { return blob_->part(BlobPart::kDiff); }

 private:
  const Blob<std::remove_const_t<T>>* blob_;
};

/// A blob's diff where an array is wanted; the blob alone is its data. A slice made on the spot is good as
/// long as the call.
template <class T>
DiffOf<T> Diff(Blob<T>& blob) {
  return DiffOf<T>(blob);
}
/// The same of a const blob: it may only be read.
template <class T>
DiffOf<const T> Diff(const Blob<T>& blob) {
  return DiffOf<const T>(blob);
}
/// The same of a temporary, for the length of the call.
template <class T>
  requires(!std::is_const_v<T>)
DiffOf<T> Diff(Blob<T>&& blob) {
  return DiffOf<T>(blob);
}

template <class T>
struct detail::PartOf<Blob<T>> {
  using Element = T;
  static Part Of(const Blob<T>& blob) { return blob.part(BlobPart::kData); }
  static InPlace Short(const Blob<T>& blob) noexcept { return PartOf<Array<T>>::Short(blob.data_); }
  static std::int64_t CountOf(const Blob<T>& blob) noexcept { return blob.count(); }
};
template <class T>
struct detail::PartOf<Blob<const T>> {
  using Element = const T;
  static Part Of(const Blob<T>& blob) { return PartOf<Blob<T>>::Of(blob); }
  static InPlace Short(const Blob<T>& blob) noexcept { return PartOf<Blob<T>>::Short(blob); }
  static std::int64_t CountOf(const Blob<T>& blob) noexcept { return blob.count(); }
};
template <class T>
struct detail::PartOf<DiffOf<T>> {
  using Element = T;
  static Part Of(const DiffOf<T>& diff) noexcept { return diff.part(); }
  static InPlace Short(const DiffOf<T>& diff) noexcept { return diff.part().in_place; }
  static std::int64_t CountOf(const DiffOf<T>& diff) noexcept { return diff.part().count; }
};

}  // namespace ferry
