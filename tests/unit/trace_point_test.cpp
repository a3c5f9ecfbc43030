// SPDX-License-Identifier: BSD-2-Clause
// What a trace says of waits for events.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <optional>
#include <vector>

#include "tests/unit/trace_fixture.hpp"

namespace ferry::testing {
namespace {

TEST_CASE(
    "A flow leads from the last work before an event to what a stream does after it has waited for that") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Stream one(*f.device), two(*f.device);
  Set(Place(one), 1.0F, x);
  Set(Place(one), 2.0F, x);
  const Event point(one);
  Set(Place(one), 3.0F, x);
  point.StreamWait(two);
  point.StreamWait(two);
  Set(Place(two), 1.0F, y);
  Set(Place(two), 2.0F, y);
  const auto events = f.Events();
  const auto begins = Only(events, "s", "wait"), ends = Only(events, "f", "wait"),
             kernels = Queued(events, "kernel");
  REQUIRE((begins.size() == 1 && ends.size() == 1 && kernels.size() == 5));
  CHECK((OnOneTrack(begins[0], kernels[1]) && begins[0].Number("ts") == kernels[1].Number("ts")));
  CHECK((OnOneTrack(ends[0], kernels[3]) && ends[0].Number("ts") == kernels[3].Number("ts")));
}

TEST_CASE(
    "The host's wait for an event has a flow from the last work before it, and does not end later work") {
  TraceFixture f;
  f.device.reset();
  sim::Reset({.seed = 1, .order = sim::Order::kLate});
  f.device = MakeDevice("sim:0");
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Stream one(*f.device);
  Set(Place(one), 1.0F, x);
  const Event point(one);
  static_cast<void>(Place(one).ReadWrite(y));
  point.HostWait();
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), kernels = Queued(events, "kernel"),
             writes = Queued(events, "access");
  REQUIRE((waits.size() == 1 && kernels.size() == 1 && writes.size() == 1));
  CheckWaitedFor(events, kernels[0], waits[0]);
  CHECK(EndOf(writes[0]) > EndOf(waits[0]));
}

TEST_CASE("Who asks how long it was from one event to another waits for both") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  const Stream one(*f.device), two(*f.device);
  Set(Place(one), 1.0F, x.Slice(0, 50));
  const Event from = Event::Measuring(one);
  Set(Place(two), 1.0F, x.Slice(50, 50));
  const Event to = Event::Measuring(two), again = to;
  const bool both = GENERATE(false, true);
  static_cast<void>(both ? Elapsed(from, to) : Elapsed(to, again));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), ends = Only(events, "f", "wait");
  REQUIRE(waits.size() == 1);
  CHECK(std::count_if(ends.begin(), ends.end(), [&](const Json& end) { return OnOneTrack(end, waits[0]); }) ==
        (both ? 2 : 1));
}

TEST_CASE("What waits for an event before which nothing was queued has no flow, nor has its own stream") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  const Stream one(*f.device), two(*f.device), three(*f.device);
  const Event nothing(one);
  nothing.StreamWait(three);  // which makes its track
  const Event of_waiter(three);
  Set(Place(one), 1.0F, x);
  Event(one).StreamWait(one);
  Set(Place(one), 1.0F, x);
  Event(*f.device, one.handle()).HostWait();  // by a bare handle: not told
  of_waiter.HostWait();
  nothing.HostWait();
  CHECK(Only(f.Events(), "s", "wait").empty());
}

TEST_CASE("Accesses of one line are two slices where an event, or a wait for one, lies between them") {
  const bool waits = GENERATE(false, true);
  TraceFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y"), z(100, *f.device, "z");
  const Stream one(*f.device), two(*f.device);
  Set(Place(one), 1.0F, x);
  const Event before(one);
  std::optional<Event> between;
  for (Array<float>* const array : {&y, &z}) {
    static_cast<void>(Place(two).ReadWrite(*array));
    if (between) continue;
    if (waits) before.StreamWait(two);
    between.emplace(waits ? one : two);
  }
  if (!waits) between->HostWait();
  const auto events = f.Events();
  const auto begins = Only(events, "s", "wait"), ends = Only(events, "f", "wait"),
             accesses = Queued(events, "access");
  REQUIRE((begins.size() == 1 && ends.size() == 1 && accesses.size() == 2));
  const auto is = [](const Json& flow, const Json& slice) {
    return OnOneTrack(flow, slice) && flow.Number("ts") == slice.Number("ts");
  };
  CHECK((waits ? is(ends[0], accesses[1]) : is(begins[0], accesses[0])));
}

TEST_CASE("Of the last 1024 events it is known what was before them") {
  constexpr std::size_t kKnown = 1024;
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  const Stream one(*f.device);
  Set(Place(one), 1.0F, x);
  std::vector<Event> points;
  for (std::size_t i = 0; i < kKnown + 1; ++i) points.emplace_back(one);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, kKnown}) points[i].HostWait();
  CHECK(Only(f.Events(), "s", "wait").size() == 2);
}

}  // namespace
}  // namespace ferry::testing
