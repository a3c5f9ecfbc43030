// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/device_times.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "ferry/detail/dependents.hpp"
#include "ferry/detail/stream_note.hpp"

namespace ferry::detail {

std::optional<Event> MeasuringPoint(const Stream& on) noexcept try {
  return Event::Measuring(on.device(), on.handle());
} catch (const std::exception&) {
  return std::nullopt;
}

bool MeasuredWork::gone() const noexcept { return Dependents::Of(serial).gone(); }
bool MeasuredWork::may_end() const noexcept { return !Dependents::Of(serial).has_memories(); }
void MeasuredWork::Wait() const noexcept try {
  if (!gone()) HostWait(end);
} catch (const std::exception&) {  // and so it has no time
}

/// The device got there between the last look that was too early and the first one that was not.
std::optional<ClockAnchor> ClockAnchor::Now(Device& device) noexcept try {
  constexpr std::chrono::milliseconds kMost{1};
  constexpr std::chrono::microseconds kClose{20};
  constexpr int kTries = 3;
  const Stream idle(device);
  const auto until = Clock::now() + kMost;
  std::optional<ClockAnchor> best;
  Clock::duration closest = Clock::duration::max();
  for (int i = 0; i < kTries && closest > kClose; ++i) {
    auto early = Clock::now();
    Event event = Event::Measuring(device, idle.handle());
    for (auto asked = Clock::now(); !device.Reached(event.handle()); asked = Clock::now()) {
      if (asked > until) return best;
      early = asked;
    }
    const auto window = Clock::now() - early;
    if (window >= closest) continue;
    closest = window;
    best = ClockAnchor(std::move(event), early + window / 2);
  }
  return best;
} catch (const std::exception&) {
  return std::nullopt;
}

std::optional<ClockAnchor::Period> ClockAnchor::PeriodOf(const MeasuredWork& work) const noexcept try {
  const std::chrono::nanoseconds since(TimeBetween(work.end, event_));
  const std::chrono::nanoseconds length(std::max<std::int64_t>(TimeBetween(work.begin, work.end), 0));
  return Period{at_ - since - length, at_ - since};
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace ferry::detail
