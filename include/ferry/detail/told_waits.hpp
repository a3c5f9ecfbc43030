// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "ferry/site.hpp"

namespace ferry {

class Device;
class Stream;

namespace detail {

/// Of points in the work of streams: each has a number of its own if it was told of, and else 0.
using PointNumber = std::uint64_t;

/// Tells observers of waits that the program asks for, and of the events that it makes.
struct TellOfWaits {
  /// The host has waited for a stream, or, if that is null, for events.
  void (*host)(const Device& device, const Stream* on, std::array<PointNumber, 2> points, const Site& site,
               std::int64_t waited_ns) noexcept;
  /// A stream waits for an event.
  void (*stream)(PointNumber point, const Stream& on) noexcept;
  /// An event was made. Returns its number.
  PointNumber (*made)(const Stream& on) noexcept;
};
/// Null where nobody is to be told.
extern std::atomic<const TellOfWaits*> tell_of_waits;
inline bool WaitsAreTold() noexcept { return tell_of_waits.load(std::memory_order_relaxed) != nullptr; }

}  // namespace detail
}  // namespace ferry
