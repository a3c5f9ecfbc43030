// SPDX-License-Identifier: BSD-2-Clause
// What a trace says of waits that a program asks for.
#include <catch2/catch_test_macros.hpp>
#include <chrono>
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
  CHECK(Only(events, "s", "wait").size() == 1);  // what an event waits for is not known
  CHECK(ArgsOf(waits[0]).Text("asked_by").starts_with("FinishStream (trace_sync_test.cpp:"));
  CHECK(!OnOneTrack(waits[0], reads[0]));
  CHECK(EndOf(reads[0]) >= waits[0].Number("ts"));
  CHECK(EndOf(reads[0]) <= EndOf(waits[0]) + 0.002);
}

}  // namespace
}  // namespace ferry::testing
