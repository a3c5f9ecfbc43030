// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/memory/arrival.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

/// The host bytes of memories on pages of their own, which are within reach as far as the host's last access
/// still holds. Decision 0054 says why so. Thread-safe; a memory's lock comes before the guard's.
class HostGuard {
 public:
  // These two are KernelGuard's, too.
  class Levels;
  class Words;

  static bool On() noexcept;
  /// Host bytes for a memory, out of reach; null where it can't be guarded. They read as zeros.
  static void* Make(const SyncedMemory& owner, std::size_t bytes) noexcept;
  /// That a memory has bytes that are not guarded; once for each of the two reasons.
  static void NoteUnguarded(const SyncedMemory& memory, bool unified) noexcept;
  /// A further device comes to use the memory. Where it is unified, the host may reach all from now on.
  /// Cold, so that inlining elsewhere stays the same.
  [[gnu::cold]] static void Share(const SyncedMemory& memory, const Device& with) noexcept;
  /// They stay out of reach. `released` is the Release that takes them, if it is one.
  static void GiveBack(const SyncedMemory& owner, void* ptr, const Site* released) noexcept;
  /// The same where work may still use them: nobody gets them any more.
  static void Lose(const SyncedMemory& owner, void* ptr) noexcept;
  /// By whom a locked memory, or the blob that alone has it, is about to be given other bytes.
  enum class Instead : std::uint8_t { kOfMemory, kOfBlob };
  static void NoteReplaced(const SyncedMemory& memory, Instead what, const Site& by) noexcept {
    if (memory.cpu_.guarded) NoteReplacedPages(memory, what, by);
  }
  /// Where we and the devices find the byte at `ptr`, whoever may touch it.
  static std::byte* Reach(const void* ptr) noexcept;
  /// Puts the bytes of a locked memory within the host's reach, or out of it, as they are now.
  static void Refresh(const SyncedMemory& memory, Bytes bytes) noexcept {
    if (memory.cpu_.guarded) RefreshPages(memory, bytes);
  }

 private:
  static void NoteReplacedPages(const SyncedMemory& memory, Instead what, const Site& by) noexcept;
  static void RefreshPages(const SyncedMemory& memory, Bytes bytes) noexcept;
  class Table;
};

}  // namespace ferry::detail
