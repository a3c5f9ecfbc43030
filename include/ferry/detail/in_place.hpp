// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

#include "ferry/coherence.hpp"
#include "ferry/detail/ready_words.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

/// The short way to an array's bytes: that of a whole memory where the array is one, and else one that is
/// never taken, so that nothing has to be asked first. Does not keep the memory alive.
///
/// Each access goes on by `otherwise`, which returns the pointer, where the bytes are not in place. In place
/// nothing changes, an overwrite included: so that it may be taken of a memory that has become larger.
class InPlace {
 public:
  InPlace() = default;
  explicit InPlace(const SyncedMemory& whole) noexcept : words_(&whole) {}

  template <Access kAccess, class Otherwise>
  void* OnCpu(Otherwise otherwise) const {
    if constexpr (kAccess == Access::kRead) {
      if (void* const ptr = words_->cpu_ready_.load(std::memory_order_acquire)) [[likely]]
        return ptr;
    } else if (words_->sole_.load(std::memory_order_acquire) == StreamId::kHost) [[likely]] {
      return (memory().unified_ ? memory().gpu_ : memory().cpu_).ptr;
    }
    return otherwise();
  }
  template <Access kAccess, class Otherwise>
  void* OnGpu(const Stream& on, Otherwise otherwise) const {
    return Gpu<kAccess>(on.id_, otherwise);
  }
  /// On the main stream of the memory's device.
  template <Access kAccess, class Otherwise>
  void* OnMain(Otherwise otherwise) const {
    return Gpu<kAccess>(words_->main_, otherwise);
  }

  /// An access of a range; `on` is null for the host.
  static void* Reach(const SyncedMemory& memory, Access access, ByteRange range, const Stream* on,
                     const Site& site) {
    return memory.Reach(on, access, range, site);
  }

 private:
  template <Access kAccess, class Otherwise>
  void* Gpu(StreamId on, Otherwise& otherwise) const {
    const bool there =
        kAccess == Access::kRead ? words_->Ready(on) : words_->sole_.load(std::memory_order_acquire) == on;
    if (there) [[likely]]
      return memory().gpu_.ptr;
    return otherwise();
  }
  /// Of words that are ready.
  const SyncedMemory& memory() const noexcept { return static_cast<const SyncedMemory&>(*words_); }

  const ReadyWords* words_ = kNeverReady;
};

}  // namespace ferry::detail
