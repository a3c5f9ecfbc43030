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
inline bool WaitsAreTold() noexcept { return tell_of_wait.load(std::memory_order_relaxed) != nullptr; }

}  // namespace detail
}  // namespace ferry
