// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/memory/arrival.hpp"
#include "core/memory/observers.hpp"

namespace ferry::detail {

/// What observers are told of a memory, which is locked. Called where somebody is Watched for; what is noted
/// of a memory that has writers is so elsewhere, too.
class Records {
 public:
  /// Null for the host.
  using End = const Buffer*;

  /// Of a copy that `arrival` needs.
  static CopyRecord OfCopy(Arrival& arrival, Bytes bytes, End from, End to, const Stream& on);
  /// Whether a copy's bytes on the host are the caller's, and not pinned. Not asked before the device was
  /// allocated from: to ask makes a context there. Cold: seldom called, it shall change no inlining
  /// elsewhere.
  [[gnu::cold]] static bool ArePageable(const CopyRecord& copy, Bytes bytes) noexcept;
  /// Before the access does anything.
  static void NoteBefore(Arrival& arrival) noexcept;
  /// The access was made.
  static void Tell(const Arrival& arrival) noexcept;
  /// The same while nobody watched: who wrote the bytes is not known any more. For a memory that has writers.
  static void NoteUnwatched(const Arrival& arrival) noexcept;
  /// The copy was queued on behalf of nobody who accesses the bytes, and told to all of the first `arrivals`
  /// observers. They are told of its outcome, too.
  static void Follow(const CopyRecord& copy, Bytes bytes, const Buffer& to, std::uint64_t arrivals) noexcept;
  /// The bytes are read in a buffer, or read and written. Tells of copies that were not in vain.
  static void NoteUse(const SyncedMemory& memory, Bytes bytes, const Buffer& here) noexcept;
  /// Bytes are not current any more, in one buffer or, for null, in all. Tells of what was copied in vain.
  static void NoteLoss(const SyncedMemory& memory, Bytes bytes, const Buffer* buffer = nullptr) noexcept;
  /// Whether a write that finds these bytes in place is to be told: somebody is told of each, or it is the
  /// first one where a reader has made zeros.
  [[gnu::cold]] static bool WantsWrite(const SyncedMemory& memory, Bytes bytes) noexcept;
  /// Bytes of a memory that has writers become zeros, which nobody has written.
  static void NoteZeros(const SyncedMemory& memory, Bytes bytes) noexcept;
  /// Bytes became zeros where the access wants them, or will once that is done on its stream.
  [[gnu::cold]] static void TellFill(const Arrival& arrival, Bytes bytes, std::int64_t took_ns) noexcept;
  /// The host waited for what the access needs.
  static void TellWait(Arrival& arrival, std::chrono::nanoseconds waited) noexcept;
  /// A stream waits, so that the access, or a copy for it, may use the bytes of a buffer. It is not noted
  /// yet.
  static void TellStreamWaits(const Arrival& arrival, const Buffer& buffer, Bytes bytes, Access access,
                              const Stream& on) noexcept;
  /// Before its end the host waited for who used its bytes.
  static void TellLife(const SyncedMemory& memory, bool begins, std::int64_t waited_ns,
                       std::optional<Site> site) noexcept;
  /// Of a block that ends, `site` is the Release, if there is one.
  static void TellBlock(const SyncedMemory& memory, const Buffer& buffer, bool begins, std::int64_t took_ns,
                        const Site* site) noexcept;

 private:
  static bool KnowsWriters(const SyncedMemory& memory, Bytes bytes) noexcept;
  static std::optional<Write> WriterOf(const SyncedMemory& memory, Bytes bytes) noexcept;
  [[gnu::cold]] static void NoteInPlace(Arrival& arrival) noexcept;
  static void TellAccess(const Arrival& arrival) noexcept;
  static void NoteWriter(const Arrival& arrival) noexcept;
  static void NoteBytes(const Arrival& arrival) noexcept;
  /// Whether there are copies whose outcome is not known yet.
  static bool Follows(const SyncedMemory& memory) noexcept;
  /// Returns whether the copy's outcome can be known.
  static bool Keep(const CopyRecord& copy, Bytes bytes, const Buffer& to, std::uint64_t arrivals) noexcept;
  static const void* HostBytesOf(const Arrival& arrival) noexcept;
};

}  // namespace ferry::detail
