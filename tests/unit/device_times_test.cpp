// SPDX-License-Identifier: BSD-2-Clause
// How a moment on a device's clock is found on the host's.
#include "core/seeing/device_times.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/sim.hpp"

namespace ferry::testing {
namespace {

using Clock = detail::ClockAnchor::Clock;
using std::chrono::microseconds;

/// Looks at events take as long as they are told, and then see them reached; when nothing is told, they do
/// not. All events are at one time.
struct Looks : FullForwardingDevice {
  explicit Looks(std::vector<microseconds> each)
      : FullForwardingDevice(MakeDevice("sim:0")), left(std::move(each)) {}
  bool Reached(EventHandle) noexcept override {
    if (made.size() == left.size()) return false;
    const auto begin = Clock::now();
    std::this_thread::sleep_for(left[made.size()]);
    made.emplace_back(begin, Clock::now());
    return true;
  }
  std::int64_t Elapsed(EventHandle, EventHandle) override { return 0; }

  /// Where the anchor is, if there is one.
  std::optional<Clock::time_point> Anchor() {
    const auto anchor = detail::ClockAnchor::Now(*this);
    if (!anchor) return std::nullopt;
    const Stream on = Stream::Main(*this);
    return anchor->PeriodOf({Event::Measuring(on), Event::Measuring(on)}).value().end;
  }

  std::vector<microseconds> left;
  std::vector<std::pair<Clock::time_point, Clock::time_point>> made{};
};

TEST_CASE("An anchor is in the middle of the shortest of three looks") {
  sim::Reset();
  Looks device({microseconds(5000), microseconds(500), microseconds(5000)});
  const auto at = device.Anchor();
  REQUIRE(at);
  REQUIRE(device.made.size() == 3);
  // Which is not the second where the machine is busy: a thread sleeps for as long as it is told, or longer.
  const auto [begin, end] =
      *std::ranges::min_element(device.made, {}, [](const auto& look) { return look.second - look.first; });
  CHECK(*at >= begin + (end - begin) / 4);
  CHECK(*at <= end);
}

TEST_CASE("An anchor that was found stays, though the next look sees nothing") {
  sim::Reset();
  Looks device({microseconds(100)});
  const auto at = device.Anchor();
  REQUIRE(at);
  CHECK(*at >= device.made[0].first);
  CHECK(*at <= device.made[0].second);
}

TEST_CASE("Who sees nothing for a millisecond has no anchor") {
  sim::Reset();
  CHECK_FALSE(Looks({}).Anchor());
}

}  // namespace
}  // namespace ferry::testing
