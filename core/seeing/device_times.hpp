// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "ferry/stream.hpp"

/// When work ran, by its device's own clock, as times of the host's. What a device cannot tell is nothing.
namespace ferry::detail {

/// A point after what is queued on the stream by now; nothing where it has no time: the device has no clock
/// or has failed, or the stream is under graph capture.
std::optional<Event> MeasuringPoint(const Stream& on) noexcept;

/// Work between two points of one stream.
struct MeasuredWork {
  Event begin, end;

  bool over() const noexcept { return end.device().Reached(end.handle()); }
  bool gone() const noexcept;     ///< with its device; nothing else may be asked then
  bool may_end() const noexcept;  ///< whether the device may end: it has no memories
  void Wait() const noexcept;     ///< until it is over, or the device has failed
  std::uint16_t serial = end.device().serial();
};

/// A moment on a device's clock and on the host's: now. It is good for some microseconds, and for work that
/// ended not long before.
class ClockAnchor {
 public:
  using Clock = std::chrono::steady_clock;
  struct Period {
    Clock::time_point begin, end;
  };

  /// Looks for a millisecond at most at a stream of its own, which has no work: it does not wait, since
  /// streams may share a queue of the hardware. Where the thread was held up while it looked, it looks again,
  /// three times in all. Nothing where the device is not there by then, has no clock or has failed.
  static std::optional<ClockAnchor> Now(Device& device) noexcept;
  bool IsOf(const Device& device) const noexcept { return &event_.device() == &device; }
  /// Of work of this device, which is waited for.
  std::optional<Period> PeriodOf(const MeasuredWork& work) const noexcept;

 private:
  ClockAnchor(Event event, Clock::time_point at) : event_(std::move(event)), at_(at) {}
  Event event_;
  Clock::time_point at_;
};

}  // namespace ferry::detail
