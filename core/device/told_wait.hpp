// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <chrono>

#include "ferry/detail/told_waits.hpp"

namespace ferry::detail {

/// Waits by wait(), as a program said at `site`, and tells of it, unless that throws.
template <class Wait>
void WaitAsToldAt(const Site& site, const Device& device, const Stream* on, std::array<PointNumber, 2> points,
                  const Wait& wait) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  wait();
  if (const TellOfWaits* const tell = tell_of_waits.load(std::memory_order_relaxed))
    tell->host(device, on, points, site, std::chrono::nanoseconds(Clock::now() - begin).count());
}

}  // namespace ferry::detail
