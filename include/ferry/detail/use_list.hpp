// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ferry/coherence.hpp"
#include "ferry/error.hpp"
#include "ferry/stream.hpp"

namespace ferry::detail {

/// Work on a stream that uses a buffer. With no point, it is all that is queued there by the time that
/// somebody must wait for it: the caller's kernels, queued after we handed out the pointer.
struct Use {
  StreamNote on;
  bool writes;
  std::optional<Event> point{};
  std::uint64_t serial = 0;  ///< changes whenever the note comes to stand for more work

  const Stream& stream() const noexcept { return on.stream(); }
  Event Point() const { return point ? *point : Event(stream()); }
};

/// Uses that are over and hold a stream. The last one ends the stream, which may take its time: they must die
/// when no lock is held.
using EndedUses = std::vector<Use>;

/// Who uses one buffer, and the one rule that orders everything: a new use waits for the last write on
/// another stream, and a write also for the reads since. Not thread-safe: SyncedMemory holds its lock. Every
/// call that throws (DeviceError, std::bad_alloc) leaves the list as it was.
class UseList {
 public:
  /// `on` waits for what must come before its access, and the access is noted. Returns the note, valid until
  /// the next call, or nullptr where an earlier one covers it.
  Use* Add(Access access, const Stream& on, EndedUses& ended);

  /// What the host must wait for before it reads, or writes.
  struct Awaited {
    std::uint64_t serial;
    Event point;
  };
  std::vector<Awaited> BeforeHost(Access access) const;
  /// The host has waited: what is over and will not come again is forgotten.
  void Reached(const std::vector<Awaited>& awaited, Access access, EndedUses& ended);

  /// The newest use waits for the readers whose stream has no user any more, and stands for them. Before the
  /// first, `forget` is called: a handle that is given back may come again as another stream.
  template <class Forget>
  void FoldOrphans(Forget forget, EndedUses& ended) {
    for (std::size_t i = 0; i + 1 < uses_.size();) {
      if (uses_[i].writes || !uses_[i].on.orphaned()) {
        ++i;
        continue;
      }
      forget();
      ended.reserve(ended.size() + 1);
      try {
        uses_[i].Point().StreamWait(uses_.back().stream());
      } catch (const StreamCaptureError&) {  // another time: the access itself has all that it needs
        return;
      }
      ended.push_back(std::move(uses_[i]));
      uses_.erase(uses_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// The use that writes, or nullptr.
  const Use* LastWrite() const noexcept;
  /// The oldest use, or nullptr.
  const Use* First() const noexcept { return uses_.empty() ? nullptr : &uses_.front(); }

  /// All uses come before what is queued on `on` from now on, or before what the host does next. The list is
  /// empty then.
  void EndBefore(const Stream& on);
  void EndBeforeHost();
  /// The same for who must not throw: what can't be ordered is waited for, and what can't be waited for has a
  /// driver that is gone. Returns false where uses are left: their streams are under graph capture.
  bool TryEndBefore(const Stream& on) noexcept;
  bool TryEndBeforeHost() noexcept;
  std::vector<StreamHandle> Streams() const;

  /// So that the next Note can't throw.
  void Reserve() { uses_.reserve(uses_.size() + 1); }
  /// `on` writes from now on, after everything noted so far.
  void Note(const Stream& on) { uses_.push_back({StreamNote(on), true, std::nullopt, ++serial_}); }

 private:
  void Await(Access access, const Stream& on) const;
  template <class Condition>
  void EndWhere(Condition over, EndedUses& ended);

  std::vector<Use> uses_;  ///< at most one that writes, the others after it
  std::uint64_t serial_ = 0;
};

}  // namespace ferry::detail
