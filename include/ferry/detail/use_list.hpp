// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ferry/coherence.hpp"
#include "ferry/detail/range_map.hpp"
#include "ferry/detail/uses.hpp"

namespace ferry::detail {

/// Who uses which bytes of one buffer, and the one rule that orders everything: a new use waits for the last
/// write on another stream, and a write also for the reads since, of the bytes that it touches and of no
/// others. Not thread-safe: SyncedMemory holds its lock. Every call that throws (DeviceError, std::bad_alloc)
/// leaves the uses as they were.
class UseList {
 public:
  /// A point that the host must wait for: that of one copy, or one after all that its stream was noted for by
  /// `serial`.
  struct Awaited {
    StreamId on;
    bool of_copy;
    std::uint64_t serial;
    Event point;
  };

  /// Work that a stream waits for.
  struct Predecessor {
    const Device* device;
    StreamId on;
    bool has_point;  ///< and only what came before it is waited for
  };

  /// Whether the access is noted and nobody must wait.
  bool Covers(Bytes bytes, Access access, StreamId on) const noexcept;
  /// Whether there is nothing that the host must wait for before its access.
  bool Quiet(Bytes bytes, Access access) const noexcept;
  /// The same of some of the bytes.
  bool AnyQuiet(Bytes bytes, Access access) const noexcept;
  /// Whether no copy may still read the bytes: there are no Readers.
  bool Unread(Bytes bytes) const noexcept;
  /// What must be waited for before the access, and no stream of the waiter's backend can wait for it: events
  /// do not cross backends.
  std::vector<Awaited> Foreign(Bytes bytes, Access access, const Stream& on, Dying& dying) const;
  /// `on` waits for what must come before its access of `bytes`; nothing that is Foreign is left. Then Note
  /// can't fail. Returns whether there was something to wait for.
  bool Prepare(Bytes bytes, Access access, const Stream& on, Dying& dying);
  /// That work; known until Note.
  std::vector<Predecessor> Predecessors(Bytes bytes, Access access, StreamId on) const;
  /// Returns the serial of what is new; an earlier read of the stream may stand for this one. Settle comes
  /// next, and between the two SetPoint, for a use that is a copy.
  std::uint64_t Note(Bytes bytes, Access access, const Stream& on, Dying& dying) noexcept;
  void SetPoint(Bytes bytes, std::uint64_t serial, const Event& point) noexcept;
  /// Makes neighbours one that have the same uses, and forgets some that are over where there are many.
  void Settle(Bytes bytes, Dying& dying) noexcept {
    if (!uses_.whole() || uses_.front().size() > bound_) SettleMany(bytes, dying);
  }

  /// What the host must wait for before its access.
  std::vector<Awaited> BeforeHost(Bytes bytes, Access access, Dying& dying) const;
  /// Of what a write would wait for, the copies that read; a unified device's reads are kernels, which use
  /// the bytes in place.
  std::vector<Awaited> Readers(Bytes bytes, Dying& dying) const;
  /// The host has waited: what is over and will not come again is forgotten.
  void Reached(Bytes bytes, const std::vector<Awaited>& awaited, Access access, Dying& dying);

  /// A stream that can still be used, of those that wrote the bytes.
  std::optional<Stream> Writer(Bytes bytes) const;
  /// The stream of the last use of all, if it can still be used.
  std::optional<Stream> Last() const;
  bool empty() const noexcept;

  bool Has(StreamId on) const noexcept;
  /// A borrowed stream counts as ended: the point after its work, in `ended`, is left of it.
  [[gnu::cold]] void Replace(StreamId on, const StreamNote& ended) noexcept;

  /// All uses come before what is queued on `on` from now on, or before what the host does next. The list
  /// keeps them until Clear, so that, if ending another list throws, none has lost its uses.
  void EndBefore(const Stream& on);
  void EndBeforeHost();
  void Clear() noexcept;
  /// The same for who must not throw, with Clear: what can't be ordered is waited for, and what can't be
  /// waited for has a driver that is gone. Returns false where uses are left: their streams are under graph
  /// capture, or have ended and are kept.
  bool TryEndBefore(const Stream& on) noexcept;
  bool TryEndBeforeHost() noexcept;
  /// Of the uses that there are, as far as the vendor has their streams. Nothing where one of them is another
  /// device's: its handle may be that of one of this device's.
  std::optional<std::vector<StreamHandle>> StreamsOf(const Device& device) const;

 private:
  template <class Visit>
  void EachBefore(Bytes bytes, Access access, StreamId on, Visit visit) const;
  template <class Concerns>
  std::vector<Awaited> Await(Bytes bytes, Access access, Dying& dying, Concerns concerns) const;
  bool Order(Bytes bytes, Access access, const Stream& on, Dying& dying) const;
  void SettleMany(Bytes bytes, Dying& dying) noexcept;
  void Shorten(Dying& dying) noexcept;
  /// change(std::vector<Use>&) for the uses of each run.
  template <class Changer>
  void Change(Bytes bytes, Changer change) noexcept {
    uses_.Each(bytes, [&](Bytes, Uses& uses) { return uses.Change(change), true; });
  }
  std::vector<Use> All() const;
  template <class Wait>
  bool TryEnd(Wait wait) noexcept;

  static constexpr std::size_t kFew = 32;
  RangeMap<Uses> uses_;
  std::uint64_t serial_ = 0;
  std::size_t bound_ = kFew;  ///< of runs and of readers; beyond, Settle looks for what is over
};

}  // namespace ferry::detail
