// SPDX-License-Identifier: BSD-2-Clause
// What a trace says of waits.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/unit/trace_fixture.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("A wait of the host ends the slice that it waited for, and a flow says which that was") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  Set(Place(*f.device), 1.0F, x);
  static_cast<void>(Place::Cpu(*f.device).Read(x));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), begins = Only(events, "s", "wait"),
             ends = Only(events, "f", "wait"), copies = Only(events, "X", "copy");
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].Text("name") == "wait for x");
  REQUIRE((begins.size() == 1 && ends.size() == 1 && copies.size() == 1));
  CHECK(begins[0].Number("id") == ends[0].Number("id"));
  CHECK(OnOneTrack(begins[0], copies[0]));
  CHECK(begins[0].Number("ts") == copies[0].Number("ts"));
  CHECK(OnOneTrack(ends[0], waits[0]));
  CHECK(EndOf(copies[0]) <= EndOf(waits[0]) + 0.002);
}

TEST_CASE("A wait ends all slices that it waited for, on any stream, and no other") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Stream one(*f.device), two(*f.device), three(*f.device);
  Set(Place(one), 1.0F, x.Slice(0, 50));
  Set(Place(two), 1.0F, x.Slice(50, 50));
  Set(Place(three), 1.0F, y);
  x.Slice(0, 50).Prefetch(Side::kCpu, one);
  x.Slice(50, 50).Prefetch(Side::kCpu, two);
  y.Prefetch(Side::kCpu, three);
  static_cast<void>(Place::Cpu(*f.device).Read(x));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), copies = Only(events, "X", "copy");
  REQUIRE(waits.size() == 1);
  const auto ends = Only(events, "f", "wait");  // the second stream waits for the first one's block, too
  CHECK(std::count_if(ends.begin(), ends.end(), [&](const Json& end) { return OnOneTrack(end, waits[0]); }) ==
        2);
  REQUIRE(copies.size() == 3);
  for (const Json& copy : copies)
    CHECK((EndOf(copy) <= EndOf(waits[0]) + 0.002) == (ArgsOf(copy).Text("label") == "x"));
}

TEST_CASE("A host that writes waits for copies that read its bytes, and one that reads does not end them") {
  TraceFixture f;
  SyncedMemory memory(400, *f.device, "x");
  memory.mutable_cpu_data();
  memory.gpu_data();
  memory.cpu_data();
  memory.mutable_cpu_data();
  const auto events = f.Events();
  REQUIRE(Only(events, "s", "wait").size() == 1);
  const auto waits = Only(events, "X", "wait");
  REQUIRE(waits.size() == 1);
  CHECK(ArgsOf(waits[0]).Text("asked_as") == "mutable");
}

TEST_CASE("A stream's wait for a copy of the caller's bytes ends that copy") {
  TraceFixture f;
  std::vector<float> given(16);
  SyncedMemory memory(64, *f.device, "x");
  memory.set_cpu_data(given.data());
  memory.gpu_data();
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), copies = Only(events, "X", "copy");
  REQUIRE((waits.size() == 1 && copies.size() == 1));
  CHECK(Only(events, "s", "wait").size() == 1);
  CHECK(EndOf(copies[0]) <= EndOf(waits[0]) + 0.002);
}

/// Of one flow: from the begin of a slice to that of another.
void CheckFlow(const std::vector<Json>& events, const Json& from, const Json& to) {
  const auto begins = Only(events, "s", "wait"), ends = Only(events, "f", "wait");
  REQUIRE((begins.size() == 1 && ends.size() == 1));
  CHECK(begins[0].Number("id") == ends[0].Number("id"));
  CHECK((OnOneTrack(begins[0], from) && begins[0].Number("ts") == from.Number("ts")));
  CHECK((OnOneTrack(ends[0], to) && ends[0].Number("ts") == to.Number("ts")));
}

void ReleaseHost(SyncedMemory& memory) { memory.Release(Side::kCpu); }

TEST_CASE("The end of a memory, or of its host bytes, waits for copies that use those") {
  const bool releases = GENERATE(false, true);
  TraceFixture f;
  auto x = std::make_unique<SyncedMemory>(400, *f.device, "x");
  x->mutable_cpu_data();
  x->Prefetch(Side::kGpu, Stream(*f.device));
  releases ? ReleaseHost(*x) : x.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), copies = Queued(events, "copy");
  REQUIRE((waits.size() == 1 && copies.size() == 1));
  CHECK((waits[0].Text("name") == "wait for x" && waits[0].Number("dur") > 0));
  CHECK((ArgsOf(waits[0]).Text("label") == "x" && ArgsOf(waits[0]).Number("bytes") == 400));
  CHECK(ArgsOf(waits[0]).Text("what") == (releases ? "evict" : "free"));
  CHECK(ArgsOf(waits[0]).Text("asked_by").starts_with("ReleaseHost (trace_wait_test.cpp:") == releases);
  CheckWaitedFor(events, copies[0], waits[0]);
}

TEST_CASE("Bytes that nobody uses, or a device's, end without a wait of the host") {
  TraceFixture f;
  SyncedMemory x(400, *f.device, "x"), y(400, *f.device, "y");
  x.mutable_cpu_data();
  x.gpu_data();
  x.Release(Side::kGpu);
  y.mutable_cpu_data();
  y.overwrite_gpu_data();
  ReleaseHost(y);
  CHECK(Only(f.Events(), "X", "wait").empty());
}

TEST_CASE("A flow leads from the work that a stream waits for to what waits") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x");
  const Stream one(*f.device), two(*f.device);
  Set(Place(one), 1.0F, x);
  Scale(Place(two), 2.0F, x);
  Scale(Place(two), 2.0F, x);
  const auto events = f.Events();
  const auto kernels = Queued(events, "kernel");
  REQUIRE(kernels.size() == 3);
  CHECK(OnOneTrack(kernels[1], kernels[2]));
  CheckFlow(events, kernels[0], kernels[1]);
}

TEST_CASE("A stream that waits for a copy alone has a flow from that, not from what came behind it") {
  const bool between_devices = GENERATE(false, true);
  TraceFixture f;
  f.device.reset();
  sim::Reset({.seed = 1, .devices = 2});
  f.device = MakeDevice("sim:0");
  Device& other = GetDevice("sim:1");
  Array<float> x(100, *f.device, "x"), y(100, other, "y");
  const Stream one(other), two(other);
  if (between_devices)
    Set(Place(*f.device), 1.0F, x);
  else
    static_cast<void>(Place::Cpu(*f.device).ReadWrite(x));
  x.Prefetch(Side::kGpu, one);
  Set(Place(one), 1.0F, y);
  static_cast<void>(Place(two).Read(x));
  auto events = f.Events();
  const auto copies = Queued(events, "copy"), reads = Queued(events, "access");
  REQUIRE((copies.size() == 1 && reads.size() == 1));
  // That of the copy from the other device waits, too.
  std::erase_if(events, [&](const Json& event) {
    const bool flow = event.Text("ph") == "s" || event.Text("ph") == "f";
    return flow && between_devices && event.Number("id") == 1;
  });
  CheckFlow(events, copies[0], reads[0]);
}

TEST_CASE("A call that waits for two memories' work on one stream has one flow") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Stream one(*f.device), two(*f.device);
  Set(Place(one), 1.0F, x);
  Set(Place(one), 1.0F, y);
  Axpy(Place(two), 2.0F, x, y);
  const auto events = f.Events();
  const auto kernels = Queued(events, "kernel");
  REQUIRE(kernels.size() == 3);
  CheckFlow(events, kernels[1], kernels[2]);
}

TEST_CASE("A stream that waits for a copy which the host has waited for has no flow") {
  TraceFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Stream one(*f.device), two(*f.device);
  static_cast<void>(Place::Cpu(*f.device).ReadWrite(x));
  x.Prefetch(Side::kGpu, one);
  static_cast<void>(Place::Cpu(*f.device).ReadWrite(x));
  Set(Place(one), 1.0F, y);
  Set(Place(two), 1.0F, x);
  const auto events = f.Events();
  const auto waits = Only(events, "X", "wait"), ends = Only(events, "f", "wait");
  REQUIRE(waits.size() == 1);
  for (const Json& end : ends) CHECK(OnOneTrack(end, waits[0]));
}

TEST_CASE("A stream that waits for copies has a flow from each, and from no copy of other bytes") {
  TraceFixture f;
  SyncedMemory x(400, *f.device, "x");
  const Stream one(*f.device), two(*f.device), three(*f.device);
  x.mutable_cpu_data();
  x.Prefetch(Side::kGpu, one, {0, 100});
  x.Prefetch(Side::kGpu, two, {100, 100});
  x.Prefetch(Side::kGpu, one, {200, 100});
  x.Prefetch(Side::kGpu, one, {300, 100});
  x.gpu_data({50, 240}, three);  // not all of the first and of the third
  const auto events = f.Events();
  const auto begins = Only(events, "s", "wait"), ends = Only(events, "f", "wait");
  const auto copies = Queued(events, "copy"), reads = Queued(events, "access");
  REQUIRE((copies.size() == 4 && reads.size() == 1));
  std::vector<double> from, wanted;
  for (std::size_t i = 0; i < ends.size(); ++i)
    if (OnOneTrack(ends[i], reads[0])) from.push_back(begins[i].Number("ts"));
  for (std::size_t i = 0; i < 3; ++i) wanted.push_back(copies[i].Number("ts"));
  std::sort(from.begin(), from.end());
  CHECK(from == wanted);
}

TEST_CASE("Of the many copies that a stream waits for, 32 have flows") {
  TraceFixture f;
  Array<float> x(100, *f.device), y(100, *f.device);
  const Stream one(*f.device), two(*f.device);
  for (Array<float>* const array : {&x, &y}) {
    array->memory()->mutable_cpu_data();
    for (std::int64_t i = 0; i < 20; ++i) array->Slice(5 * i, 5).Prefetch(Side::kGpu, one);
  }
  Axpy(Place(two), 2.0F, x, y);
  const auto events = f.Events();
  const auto ends = Only(events, "f", "wait"), kernels = Queued(events, "kernel");
  REQUIRE(kernels.size() == 1);
  CHECK(std::count_if(ends.begin(), ends.end(),
                      [&](const Json& end) { return OnOneTrack(end, kernels[0]); }) == 32);
}

TEST_CASE("A stream that was given nothing is not waited for") {
  TraceFixture f;
  SyncedMemory x(400, *f.device, "x");
  const Stream writer(*f.device), one(*f.device), two(*f.device);
  x.mutable_gpu_data(writer);
  x.Resize(0), x.Resize(400);
  x.Prefetch(Side::kGpu, one);  // zeroes, after the writer's work
  x.gpu_data(two);
  CHECK(Only(f.Events(), "s", "wait").empty());
}

TEST_CASE("The host waits for no copy between devices") {
  TraceFixture f;
  f.device.reset();
  sim::Reset({.seed = 1, .devices = 2});
  f.device = MakeDevice("sim:0");
  Array<float> x(100, *f.device, "x");
  Set(Place(*f.device), 1.0F, x);
  x.Prefetch(Side::kGpu, Stream::Main(GetDevice("sim:1")));
  static_cast<void>(Place::Cpu(*f.device).Read(x));
  const auto events = f.Events();
  CHECK(Queued(events, "copy").size() == 2);
  const auto waits = Only(events, "X", "wait"), ends = Only(events, "f", "wait");
  REQUIRE(waits.size() == 1);
  CHECK(std::count_if(ends.begin(), ends.end(), [&](const Json& end) { return OnOneTrack(end, waits[0]); }) ==
        1);
}

}  // namespace
}  // namespace ferry::testing
