// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "ferry/operand.hpp"
#include "ferry/synced_memory.hpp"

/// Blobs where arrays are wanted. Included by ferry/blob.hpp.
namespace ferry {

template <class T>
class Blob;

namespace detail {
/// count() elements of storage that may have more.
template <class T>
Part PartOfBlob(const std::shared_ptr<SyncedMemory>& storage, const Blob<T>& blob) noexcept {
  const auto bytes = static_cast<std::size_t>(blob.count()) * sizeof(T);
  const bool all = storage != nullptr && storage->size() == bytes;
  return {storage.get(),
          {0, all ? ByteRange::kRest : bytes},
          blob.count(),
          std::span(blob.shape().data(), blob.shape().size())};
}
}  // namespace detail

/// What Diff(blob) is: its diff, for Read and its like and for kernels. Refers to the blob.
template <class T>
class DiffOf {
 public:
  explicit DiffOf(std::conditional_t<std::is_const_v<T>, const Blob<std::remove_const_t<T>>, Blob<T>>& blob)
      : part_(detail::PartOfBlob(blob.diff(), blob)) {}
  const detail::Part& part() const noexcept { return part_; }

 private:
  detail::Part part_;
};

/// A blob's diff where an array is wanted; the blob alone is its data.
template <class T>
DiffOf<T> Diff(Blob<T>& blob) {
  return DiffOf<T>(blob);
}
template <class T>
DiffOf<const T> Diff(const Blob<T>& blob) {
  return DiffOf<const T>(blob);
}

template <class T>
struct detail::PartOf<Blob<T>> {
  using Element = T;
  static Part Of(const Blob<T>& blob) { return PartOfBlob(blob.data(), blob); }
};
template <class T>
struct detail::PartOf<DiffOf<T>> {
  using Element = T;
  static Part Of(const DiffOf<T>& diff) noexcept { return diff.part(); }
};

}  // namespace ferry
