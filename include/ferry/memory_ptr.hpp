// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <utility>

#include "ferry/synced_memory.hpp"

namespace ferry {

/// Where the bytes of an Array or a Blob are: the std::shared_ptr<SyncedMemory> that Caffe's Blob returns,
/// except that `*` and `->` throw ShapeError where there is none, as of a blob without a shape.
class MemoryPtr : public std::shared_ptr<SyncedMemory> {
 public:
  MemoryPtr() = default;
  /// The same pointer; null is taken.
  // NOLINTNEXTLINE(google-explicit-constructor): the same pointer
  MemoryPtr(std::shared_ptr<SyncedMemory> memory) noexcept : shared_ptr(std::move(memory)) {}

  /// The memory. Throws ShapeError where there is none.
  SyncedMemory& operator*() const {
    if (get() == nullptr) [[unlikely]]
      FailNull();
    return *get();
  }
  /// A member of the memory. Throws ShapeError where there is none.
  SyncedMemory* operator->() const { return &**this; }

 private:
  [[noreturn]] static void FailNull();
};

}  // namespace ferry
