// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ferry/stream.hpp"

namespace ferry::detail {

class QueueTrace;

/// The last reference to a stream ends it, which may take its time: what may be one dies when no lock is
/// held.
using Dying = std::vector<std::shared_ptr<void>>;

/// A memory's reference to a stream that it may wait for. It does not keep the queue alive: of a stream that
/// has ended, the point after its last work is left.
class StreamNote {
 public:
  explicit StreamNote(const Stream& stream) noexcept;
  /// Of a stream that somebody else is about to destroy: it counts as ended, after `last`, and is no later
  /// stream that gets its handle. Throws std::bad_alloc.
  explicit StreamNote(Event last);

  StreamId id() const noexcept { return id_; }
  Device& device() const noexcept { return *device_; }
  /// As one more user: queues work and records points. Nothing where the stream has ended. Of another
  /// thread's default stream, the main stream, which waits for it.
  std::optional<Stream> Alive() const;
  /// Of a stream that has ended, the point after its last work; nothing where no work can be left. Throws
  /// StreamCaptureError for one that was under graph capture then and still is, and DeviceError for one whose
  /// driver failed then and still does.
  std::optional<Event> LastPoint() const;
  /// Of a stream that was under graph capture when it ended, or whose driver failed then, the vendor's
  /// stream, which is there as long as this is.
  std::optional<StreamHandle> Kept() const noexcept;
  /// Whether the stream has ended and all its work is done, as far as that is known without a wait.
  bool Over() const noexcept;

 private:
  friend void Dismiss(const StreamNote& note, Dying& dying) noexcept;
  Device* device_;
  StreamHandle handle_;
  StreamId id_;
  std::shared_ptr<QueueTrace> trace_;  ///< of a stream of ours, or of one that has ended
};

/// The host waits, as the core must: observers are told of that as whoever asked for it says.
inline Event PointOn(const Stream& on) { return Event(on.device(), on.handle()); }
inline void HostWait(const Event& point) { point.device().HostWait(point.handle()); }
inline void StreamWait(const Stream& on, const Event& point) {
  on.device().StreamWait(on.handle(), point.handle());
}
inline std::int64_t TimeBetween(const Event& from, const Event& to) {
  return from.device().Elapsed(from.handle(), to.handle());
}
inline void HostWait(const Stream& stream) { stream.device().Synchronize(stream.handle()); }

/// Moves what may end a stream to where it can die. Where there is no room, it dies here.
void Dismiss(Stream&& stream, Dying& dying) noexcept;
void Dismiss(const StreamNote& note, Dying& dying) noexcept;

}  // namespace ferry::detail
