// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/device_times.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "ferry/detail/dependents.hpp"

namespace ferry::detail {

std::optional<Event> MeasuringPoint(const Stream& on) noexcept try {
  return Event::Measuring(on);
} catch (const std::exception&) {
  return std::nullopt;
}

bool MeasuredWork::gone() const noexcept { return Dependents::Of(serial).gone(); }

/// The device got there between the last look that was too early and the first one that was not.
std::optional<ClockAnchor> ClockAnchor::Now(Device& device) noexcept try {
  constexpr std::chrono::milliseconds kMost{1};
  const Stream idle(device);
  auto early = Clock::now();
  const auto until = early + kMost;
  Event event = Event::Measuring(idle);
  for (;;) {
    const auto asked = Clock::now();
    if (device.Reached(event.handle()))
      return ClockAnchor(std::move(event), early + (Clock::now() - early) / 2);
    if (asked > until) return std::nullopt;
    early = asked;
  }
} catch (const std::exception&) {
  return std::nullopt;
}

std::optional<ClockAnchor::Period> ClockAnchor::PeriodOf(const MeasuredWork& work) const noexcept try {
  const std::chrono::nanoseconds since(Elapsed(work.end, event_));
  const std::chrono::nanoseconds length(std::max<std::int64_t>(Elapsed(work.begin, work.end), 0));
  return Period{at_ - since - length, at_ - since};
} catch (const std::exception&) {
  return std::nullopt;
}

}  // namespace ferry::detail
