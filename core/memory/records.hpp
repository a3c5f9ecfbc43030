// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/memory/arrival.hpp"
#include "core/memory/observers.hpp"

namespace ferry::detail {

/// What observers are told of a memory, which is locked. Only called where somebody is Watched for, except
/// NoteUnwatched.
class Records {
 public:
  /// Null for the host.
  using End = const Buffer*;

  /// Of a copy that `arrival` needs.
  static CopyRecord OfCopy(Arrival& arrival, Bytes bytes, End from, End to, const Stream& on);
  /// The access was made.
  static void Tell(const Arrival& arrival) noexcept;
  /// The same while nobody watched: who wrote the bytes is not known any more. For a memory that has writers.
  static void NoteUnwatched(const Arrival& arrival) noexcept;
  /// The copy was queued on behalf of a Prefetch, and told to all of the first `arrivals` observers.
  static void NotePrefetch(const CopyRecord& copy, Bytes bytes, const Buffer& to,
                           std::uint64_t arrivals) noexcept;
  /// The bytes are read in a buffer, or read and written.
  static void NoteUse(const SyncedMemory& memory, Bytes bytes, const Buffer& here) noexcept;
  /// Bytes are not current any more where nobody has used them. Tells of what was prefetched in vain.
  static void NoteLoss(const SyncedMemory& memory, Bytes bytes) noexcept;
  /// The same in one buffer.
  static void NoteLossIn(const SyncedMemory& memory, const Buffer& buffer) noexcept;
  /// The host waited for what the access needs.
  static void TellWait(Arrival& arrival, std::chrono::nanoseconds waited) noexcept;
  static void TellLife(const SyncedMemory& memory, bool begins, std::optional<Site> site) noexcept;
  /// Of a block that ends, `site` is the Release.
  static void TellBlock(const SyncedMemory& memory, const Buffer& buffer, bool begins, std::int64_t took_ns,
                        const Site* site) noexcept;

 private:
  static std::optional<Write> WriterOf(const SyncedMemory& memory, Bytes bytes) noexcept;
  static void NoteWriter(const Arrival& arrival) noexcept;
  template <class Loses>
  static void EndPrefetches(const SyncedMemory& memory, Loses loses) noexcept;
};

}  // namespace ferry::detail
