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

/// The device got there between the two looks at the host's clock.
std::optional<ClockAnchor> ClockAnchor::Now(Device& device) noexcept try {
  const Stream idle(device);
  const auto before = Clock::now();
  Event event = Event::Measuring(idle);
  event.HostWait();
  return ClockAnchor(std::move(event), before + (Clock::now() - before) / 2);
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
