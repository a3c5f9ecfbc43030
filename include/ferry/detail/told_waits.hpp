// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "ferry/site.hpp"

namespace ferry {

class Device;
class Stream;

namespace detail {

/// Tells observers that the program had the host wait for a device: for a stream, or, if that is null, for an
/// event. Null where nobody is to be told.
using TellOfWait = void (*)(const Device& device, const Stream* on, const Site& site,
                            std::int64_t waited_ns) noexcept;
extern std::atomic<TellOfWait> tell_of_wait;
/// A clock, in nanoseconds.
std::int64_t NowForWaits() noexcept;

/// Waits by wait(), as a program said at `site`.
template <class Wait>
void WaitAsToldAt(const Site& site, const Device& device, const Stream* on, const Wait& wait) {
  const TellOfWait tell = tell_of_wait.load(std::memory_order_relaxed);
  if (tell == nullptr) [[likely]]
    return wait();
  const std::int64_t begin = NowForWaits();
  wait();
  tell(device, on, site, NowForWaits() - begin);
}

}  // namespace detail
}  // namespace ferry
