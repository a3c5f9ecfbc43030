// SPDX-License-Identifier: BSD-2-Clause
// What a trace says of waits that a program asks for.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdint>
#include <thread>

#include "tests/unit/trace_fixture.hpp"

namespace ferry::testing {
namespace {

void FinishStream(const Stream& stream) { stream.Synchronize(); }

TEST_CASE("A wait that the program makes for a stream is its thread's, and ends that stream's slice") {
  TraceFixture f;
  Blob<float> x({100}, *f.device);
  const Stream stream(*f.device), other(*f.device);
  WriteIt(x);
  x.gpu_data(stream);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  FinishStream(stream);
  Event(other).HostWait();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), reads = Only(events, "X", "access");
  REQUIRE((waits.size() == 2 && reads.size() == 1));
  for (const Json& wait : waits) CHECK((wait.Text("name") == "wait for sim:0" && wait.Number("dur") > 0));
  CHECK(Only(events, "s", "wait").size() == 1);  // nothing is before the event
  CHECK(ArgsOf(waits[0]).Text("asked_by").starts_with("FinishStream (trace_sync_test.cpp:"));
  CHECK(!OnOneTrack(waits[0], reads[0]));
  CHECK(EndOf(reads[0]) >= waits[0].Number("ts"));
  CHECK(EndOf(reads[0]) <= EndOf(waits[0]) + 0.002);
}

/// Waits for a point behind one of two kernels. Returns whether the slice of the other one goes on.
bool OtherGoesOnAfterPoint(std::uint64_t seed, bool measures) {
  TraceFixture f;
  f.device.reset();
  sim::Reset({.seed = seed, .order = sim::Order::kLate});
  f.device = MakeDevice("sim:0");
  const Stream one(*f.device), two(*f.device), three(*f.device);
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y"), z(100, *f.device, "z");
  Set(Place(one), 1.0F, x);
  Set(Place(two), 1.0F, y);
  static_cast<void>(Place(three).ReadWrite(z));
  const Event point = Event::Measuring(one);
  measures ? static_cast<void>(Elapsed(point, point)) : point.HostWait();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), kernels = Queued(events, "kernel"),
             accesses = Queued(events, "access");
  REQUIRE((waits.size() == 1 && kernels.size() == 2 && accesses.size() == 1));
  CheckWaitedFor(events, kernels[0], waits[0]);
  CHECK(EndOf(accesses[0]) > EndOf(waits[0]) + 1000);
  return EndOf(kernels[1]) > EndOf(waits[0]) + 1000;
}

TEST_CASE("A wait for a point ends slices whose work the device's clock shows to be over, and no other") {
  const bool measures = GENERATE(false, true);
  int going_on = 0;  // a simulated device that waits for one kernel runs the other one, too, or does not
  for (std::uint64_t seed = 1; seed <= 8; ++seed) going_on += OtherGoesOnAfterPoint(seed, measures) ? 1 : 0;
  CHECK(going_on > 0);
}

TEST_CASE("A call whose result the host waits for is a wait, and ends its kernel's slice") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  Set(Place(*f.device), 1.0F, x);
  CHECK(Asum(Place(*f.device), x) == 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), kernels = Queued(events, "kernel"),
             calls = Only(events, "X", "call");
  REQUIRE((waits.size() == 1 && kernels.size() == 2 && calls.size() == 2));
  CHECK((waits[0].Text("name") == "wait for the result" && OnOneTrack(waits[0], calls[1])));
  CHECK(ArgsOf(waits[0]).Text("asked_by") == calls[1].Text("name"));
  CHECK((waits[0].Number("ts") == calls[1].Number("ts") && waits[0].Number("dur") == calls[1].Number("dur")));
  CheckWaitedFor(events, kernels[1], waits[0]);
}

TEST_CASE("A call that waits for its result on the CPU is no wait in a trace") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  CHECK(Asum(Place::Cpu(*f.device), x) == 0);
  const auto events = f.Events();
  CHECK(Only(events, "X", "wait").empty());
  CHECK(Only(events, "s", "wait").empty());
}

}  // namespace
}  // namespace ferry::testing
