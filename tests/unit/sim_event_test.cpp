// SPDX-License-Identifier: BSD-2-Clause
// Events of the simulated GPU that measure.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdint>
#include <thread>

#include "ferry/error.hpp"
#include "ferry/sim.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

constexpr std::chrono::milliseconds kPause{40};
constexpr std::int64_t kPauseNs = 40'000'000;

/// Nanoseconds of the host's clock since it was made.
class Since {
 public:
  std::int64_t Read() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void Nap() { std::this_thread::sleep_for(kPause); }

TEST_CASE("A point's time is that of a GPU which does all as soon as it can, however late it is done here") {
  const auto order = GENERATE(sim::Order::kLate, sim::Order::kEarly, sim::Order::kDrawn);
  const SimWorld world({.seed = 3, .order = order});
  const Since begin;
  const Event idle = Event::Measuring(world.side), at_once = Event::Measuring(world.side);
  const std::int64_t both = begin.Read();
  Nap();
  const Event later = Event::Measuring(world.side);
  const std::int64_t all = begin.Read();
  Nap();
  CHECK(Elapsed(idle, at_once) <= both);
  CHECK(Elapsed(idle, later) >= kPauseNs);
  CHECK(Elapsed(idle, later) <= all);
  sim::Launch(world.side, {}, Nap);
  CHECK(Elapsed(later, Event::Measuring(world.side)) >= 2 * kPauseNs);  // the host's nap, and the kernel's
}

TEST_CASE("Who waits for a point waits for what comes before it, and for nothing behind it") {
  const auto order = GENERATE(sim::Order::kLate, sim::Order::kEarly, sim::Order::kDrawn);
  const SimWorld world({.seed = 3, .order = order});
  const Since begin;
  const Event start = Event::Measuring(world.side);
  sim::Launch(world.side, {}, Nap);
  const Event awaited(world.side), measured = Event::Measuring(world.side);
  sim::Launch(world.side, {}, [] { Nap(), Nap(), Nap(); });
  awaited.StreamWait(world.main);
  const Event waited = Event::Measuring(world.main);
  const std::int64_t queued = begin.Read();
  world.side.Synchronize();
  CHECK(Elapsed(start, waited) >= kPauseNs);
  CHECK(Elapsed(start, waited) <= std::max(queued, Elapsed(start, measured)));
}

TEST_CASE("What an event measured stays when its stream goes on") {
  const SimWorld world;
  const Event first = Event::Measuring(world.side), second = Event::Measuring(world.side);
  const std::int64_t time = Elapsed(first, second);
  sim::Launch(world.side, {}, [] {});
  world.side.Synchronize();
  CHECK(Elapsed(first, second) == time);
}

TEST_CASE("The simulated runtime says that an event is not reached, or does not measure") {
  const SimWorld world({.order = sim::Order::kLate});
  SimRuntime::Event measuring{}, plain{};
  REQUIRE(SimRuntime::EventCreateMeasuring(&measuring) == SimRuntime::kSuccess);
  REQUIRE(SimRuntime::EventCreate(&plain) == SimRuntime::kSuccess);
  float time = -1;
  CHECK(SimRuntime::EventElapsedTime(&time, measuring, measuring) == SimRuntime::kInvalidHandle);
  REQUIRE(SimRuntime::EventRecord(measuring, Native(world.main)) == SimRuntime::kSuccess);
  CHECK(SimRuntime::EventElapsedTime(&time, measuring, measuring) == SimRuntime::kNotReady);
  REQUIRE(SimRuntime::EventRecord(plain, Native(world.main)) == SimRuntime::kSuccess);
  REQUIRE(SimRuntime::EventSynchronize(measuring) == SimRuntime::kSuccess);
  CHECK(SimRuntime::EventElapsedTime(&time, measuring, measuring) == SimRuntime::kSuccess);
  CHECK(time == 0);
  CHECK(SimRuntime::EventElapsedTime(&time, measuring, plain) == SimRuntime::kInvalidHandle);
  CHECK(sim::Inspect().misuse.size() == 2);
  CHECK(SimRuntime::EventDestroy(measuring) == SimRuntime::kSuccess);
  CHECK(SimRuntime::EventDestroy(plain) == SimRuntime::kSuccess);
}

TEST_CASE("Events of both kinds come again, each as its own kind, and go with the device") {
  {
    const SimWorld world;
    for (int round = 0; round < 3; ++round) {
      const Event plain(world.side), from = Event::Measuring(world.side), to = Event::Measuring(world.side);
      CHECK(Elapsed(from, to) >= 0);
      CHECK_THROWS_AS(Elapsed(from, plain), std::logic_error);
    }
    const long calls = sim::Inspect().runtime_calls;
    Event::Measuring(world.side).HostWait();
    CHECK(sim::Inspect().runtime_calls - calls <= 8);
  }
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("Nothing is measured on a stream under capture") {
  const SimWorld world;
  sim::BeginCapture(world.side);
  CHECK_THROWS_AS(Event::Measuring(world.side), StreamCaptureError);
  const Event from = Event::Measuring(world.main), to = Event::Measuring(world.main);
  CHECK(Elapsed(from, to) >= 0);
  sim::EndCapture(world.side);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("A kernel that failed has no time") {
  const SimWorld world;
  const Event from = Event::Measuring(world.side);
  sim::Launch(world.side, {}, [] { throw Error("on purpose"); });
  const Event to = Event::Measuring(world.side);
  CHECK_THROWS_AS(Elapsed(from, to), DeviceError);
}

}  // namespace
}  // namespace ferry::testing
