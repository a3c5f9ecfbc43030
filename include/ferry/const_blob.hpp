// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "ferry/blob.hpp"

namespace ferry {

/// A blob that may only be read, such as Slice of a const Blob returns: stands where a const Blob<T>& does,
/// and `->` and `*` reach its members.
template <class T>
class Blob<const T> {
 public:
  /// As Blob<T>::Slice: a part that may only be read, too.
  Blob<const T> Slice(std::int64_t first, std::int64_t count) const { return blob_.Slice(first, count); }
  /// The blob.
  const Blob<T>& operator*() const noexcept { return blob_; }
  /// A member of the blob.
  const Blob<T>* operator->() const noexcept { return &blob_; }
  /// The blob, where a const Blob<T>& is wanted.
  // NOLINTNEXTLINE(google-explicit-constructor): as T* becomes const T*
  operator const Blob<T>&() const noexcept { return blob_; }

 private:
  friend class Blob<T>;
  explicit Blob(Blob<T> blob) noexcept : blob_(std::move(blob)) {}
  Blob<T> blob_;
};

}  // namespace ferry
