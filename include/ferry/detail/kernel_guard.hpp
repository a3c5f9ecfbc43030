// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ferry/detail/fault.hpp"
#include "ferry/detail/pages.hpp"

namespace ferry {
class SyncedMemory;
}

namespace ferry::detail {

struct Buffer;

/// What the pointer guard says of a device's memory, for a device whose kernels are host code: which pages a
/// kernel may touch, as the memory is when the kernel is queued. Thread-safe. Decision 0054 says why so.
class KernelGuard {
 public:
  /// Of one memory's block.
  class Note {
   public:
    /// Pages that may not be written, or not be touched.
    struct Limit {
      std::byte* begin;
      std::size_t bytes;
      Pages::Access allowed;
    };
    const std::vector<Limit>& limits() const noexcept { return limits_; }
    /// Whether a limit forbids it. In a signal's handler, as the next one.
    bool Forbids(const void* address, FaultAccess access) const noexcept;
    /// Which byte of which memory it is, why a kernel may not touch it, and what access would have been
    /// right.
    void Describe(FaultLine& line, const void* address, FaultAccess access) const noexcept;

   private:
    friend class KernelGuard;
    struct Run;
    std::string label_;
    const std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<Limit> limits_;
    std::vector<Run> runs_;
  };

  /// Of the block that `ptr` is in, for a kernel that is queued next; null where all of it may be touched,
  /// and where it is no guarded memory's. Locks the memory. Throws std::bad_alloc.
  static std::shared_ptr<const Note> Of(const void* ptr) {
    return blocks_.load(std::memory_order_relaxed) != 0 ? Look(ptr) : nullptr;
  }
  /// In a signal's handler: if the address is in a guarded memory's block, says which byte of which memory it
  /// is, and what the host should have called.
  static void NameForHost(FaultLine& line, const void* address) noexcept;

  /// The memory's buffer on a device has got its block, if that is to be guarded. Does nothing where there is
  /// no room to note it.
  static void Begin(const SyncedMemory& owner, const Buffer& buffer) noexcept;
  /// The block goes.
  static void End(const void* ptr) noexcept {
    if (blocks_.load(std::memory_order_relaxed) != 0) Forget(ptr);
  }

 private:
  class Table;
  static std::shared_ptr<const Note> Look(const void* ptr);
  static void Forget(const void* ptr) noexcept;
  static std::atomic<std::size_t> blocks_;
};

}  // namespace ferry::detail
