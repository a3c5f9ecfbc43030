// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "ferry/observer.hpp"

namespace ferry {

class Trace;
namespace detail {
void EndTrace(const Trace& trace) noexcept;
}

/// While it lives, it writes what happens to a file in Chrome's trace format, for Perfetto
/// (https://ui.perfetto.dev) and for ferry-report: a process for the host and for each device, with a track
/// for each thread and for each stream. FERRY_TRACE=file in the environment does the same for a whole
/// program; `%p` in the name stands for the process. A process that was forked writes nothing into its
/// parent's.
///
/// Times are in microseconds since the trace began, and the host's unless said otherwise. A slice of a stream
/// begins when the host queued the copy or the kernel (or accessed the bytes for it), and ends when the next
/// one was queued there, or when the host had waited for it. So the slices show when work was queued, and in
/// which order. The device may have begun the work later, and may have ended it after its slice, unless the
/// host had waited.
///
/// Flows lead from the work to the wait, of the host or of a stream; of an Event, from the last slice of its
/// stream before it. Where the host has waited for an Event, the slices of the device's streams end
/// whose work is over by its clock, too. Of the last 1024 events it is known what was before them, if
/// observers were told of them (PointRecord). What a stream waits for before its next slice has 32 flows at
/// most, and streams beyond 1024 of a device share a track, and its flows. A borrowed stream whose handle
/// comes again is one track with the old one. Work that another thread queues on the stream while an Event is
/// made may be taken for work before it.
///
/// A second track of the stream shows when the device ran copies and calls of typed operands: by two
/// measuring events around each, put on the host's time line to within some microseconds. That track lacks
/// work of a device without a clock, work under graph capture, and work that is not over when the device's
/// last memory ends; of a stream that nobody waits for, it has the last 1024. On that track, a call that
/// makes another call on its stream begins only where the inner call ends. On threads, slices are what the
/// host did: waits, calls, and kernels on the CPU. Counters are the live bytes that Ferry allocated since the
/// trace began.
///
/// A record takes some microseconds, and more beyond 1024 streams of a device. It is written when 64 KiB have
/// come together, or with the first record that is a second after the last time; if the program dies, the
/// rest is lost and the file is read as far as it goes. Of a label it has 1000 bytes. The trace's memory is
/// bounded by the number of live memories, and of streams: some 1.5 MB for each that nobody waits for. Any
/// thread may use the device meanwhile. Where the file can't be written any more, one warning names it, and
/// the program goes on without the trace.
class Trace {
 public:
  /// Replaces the file. Throws Error, which names it and says why, where that can't be done, where a trace or
  /// a ledger is being written there, or where stdout or stderr goes to that file, pipe or socket; and
  /// std::logic_error in a call of an observer.
  explicit Trace(const std::string& file);
  /// Writes what is left, and the end.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

 private:
  friend void detail::EndTrace(const Trace& trace) noexcept;
  class Events;
  std::shared_ptr<Events> events_;
  Watch watch_;
};

}  // namespace ferry
