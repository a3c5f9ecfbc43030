// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>

#include "ferry/detail/told_waits.hpp"

namespace ferry::detail {

/// Waits by wait(), as a program said at `site`, and tells of it, unless that throws.
template <class Wait>
void WaitAsToldAt(const Site& site, const Device& device, const Stream* on, const Wait& wait) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  wait();
  if (const TellOfWait tell = tell_of_wait.load(std::memory_order_relaxed))
    tell(device, on, site, std::chrono::nanoseconds(Clock::now() - begin).count());
}

}  // namespace ferry::detail
