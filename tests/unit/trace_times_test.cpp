// SPDX-License-Identifier: BSD-2-Clause
// What a trace says by the clocks of devices. The tolerance is for the moment between the readings of two
// clocks, in which a busy machine may run something else.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ferry/detail/kernel_place.hpp"
#include "ferry/forwarding_device.hpp"
#include "tests/unit/trace_fixture.hpp"
#include "tools/report/trace.hpp"

namespace ferry::testing {
namespace {

constexpr double kTolerance = 10'000, kPause = 50'000;  // in microseconds

void Pause() { std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int>(kPause))); }

struct LateTrace : TraceFixture {
  LateTrace() {
    trace.reset();
    device.reset();
    sim::Reset({.order = sim::Order::kLate, .devices = 2});
    device = MakeDevice("sim:0");
    trace.emplace(file);
  }
};

TEST_CASE("A copy and a call have a second slice, which is when the device did them") {
  LateTrace f;
  Array<float> x(100, *f.device, "x");
  const Place gpu(*f.device), cpu = Place::Cpu(*f.device);
  Set(cpu, 1.0F, x);
  sim::Launch(Stream::Main(*f.device), {}, Pause);  // which the two come after
  Scale(gpu, 2.0F, x);
  static_cast<void>(cpu.Read(x));
  const auto events = f.Events();
  const auto copies = Only(events, "X", "copy"), kernels = Only(events, "X", "kernel");
  const auto device_copies = Only(events, "X", "device copy");
  const auto device_kernels = Only(events, "X", "device kernel");
  REQUIRE(copies.size() == 2);
  REQUIRE(device_copies.size() == 2);
  REQUIRE(device_kernels.size() == 1);
  CHECK(ArgsOf(device_copies[0]).Text("label") == "x");
  CHECK(ArgsOf(device_copies[0]).Number("bytes") == 400);
  CHECK(ArgsOf(device_kernels[0]).Text("operands") == R"(mutable "x")");
  CHECK(device_copies[0].Number("ts") >= copies[0].Number("ts") + kPause - kTolerance);
  CHECK(device_kernels[0].Number("ts") >= EndOf(device_copies[0]) - kTolerance);
  CHECK(device_copies[1].Number("ts") >= EndOf(device_kernels[0]) - kTolerance);
  CHECK(EndOf(device_copies[1]) <= EndOf(Only(events, "X", "wait").back()) + kTolerance);
}

TEST_CASE("By the device's clock a stream has a track of its own, beside that of the host's times") {
  LateTrace f;
  Array<float> x(100, *f.device);
  Set(Place(*f.device), 1.0F, x);
  const auto events = f.Events();
  const auto queued = Only(events, "X", "kernel"), ran = Only(events, "X", "device kernel");
  REQUIRE((queued.size() == 1 && ran.size() == 1));
  CHECK(queued[0].Number("pid") == ran[0].Number("pid"));
  CHECK_FALSE(OnOneTrack(queued[0], ran[0]));
  bool named = false;
  for (const Json& event : events)
    named |= event.Text("ph") == "M" && OnOneTrack(event, ran[0]) &&
             ArgsOf(event).Text("name") == "main stream, by the device's clock";
  CHECK(named);
}

TEST_CASE("What has no time by the device's clock has the host's alone") {
  LateTrace f;
  const auto host = MakeDevice("host");
  Array<float> at_once(100, *host);
  Set(Place(*host), 1.0F, at_once);
  Array<float> x(100, *f.device);
  const Stream stream(*f.device);
  Set(Place(stream), 1.0F, x);
  sim::BeginCapture(stream);
  Scale(Place(stream), 2.0F, x);
  sim::EndCapture(stream);
  const auto events = f.Events();
  CHECK(Only(events, "X", "device kernel").size() == 1);
}

TEST_CASE("A copy that failed has no time, and the next one has its own") {
  LateTrace f;
  f.trace.reset();
  f.device.reset();
  sim::Reset({.order = sim::Order::kLate, .fail_at = 1, .fail_call = "MemcpyAsync"});
  f.device = MakeDevice("sim:0");
  f.trace.emplace(f.file);
  {
    SyncedMemory memory(64, *f.device, "x");
    memory.mutable_cpu_data();
    CHECK_THROWS_AS(memory.gpu_data(), DeviceError);
    Pause();
    memory.gpu_data();
    Stream::Main(*f.device).Synchronize();
  }
  const auto ran = Only(f.Events(), "X", "device copy");
  REQUIRE(ran.size() == 1);
  CHECK(ran[0].Number("dur") < kPause);
}

TEST_CASE("A copy that failed keeps nothing of its device") {
  LateTrace f;
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  f.trace.reset();
  f.device.reset();
  sim::Reset({.order = sim::Order::kLate, .fail_at = 1, .fail_call = "MemcpyAsync"});
  f.device = MakeDevice("sim:0");
  f.trace.emplace(f.file);
  {
    SyncedMemory memory(64, *f.device, "x");
    memory.mutable_cpu_data();
    CHECK_THROWS_AS(memory.gpu_data(), DeviceError);
  }
  f.device.reset();
  f.trace.reset();
  SetLogSink({});
  CHECK(lines.empty());  // of an event that outlives its device
}

TEST_CASE("A call's slice is as long as the device was at work, and ends when that was over") {
  LateTrace f;
  const Array<float> memory(1, *f.device);
  const Stream stream(*f.device);
  const Place place(stream);
  std::array<void*, 1> none{};
  {
    const detail::KernelCall call(place, {}, none);
    sim::Launch(stream, {}, Pause);
  }
  f.device->Synchronize(stream.handle());  // of which the trace is not told
  Pause();
  const auto events = f.Events();
  const auto queued = Only(events, "X", "kernel"), ran = Only(events, "X", "device kernel");
  REQUIRE((queued.size() == 1 && ran.size() == 1));
  CHECK(ran[0].Number("dur") >= kPause - kTolerance);
  CHECK(ran[0].Number("ts") >= queued[0].Number("ts") - kTolerance);
  CHECK(EndOf(ran[0]) <= EndOf(queued[0]) - kPause + kTolerance);
}

TEST_CASE("A call that another one makes has its own times by the device's clock, and so has the other") {
  LateTrace f;
  const Array<float> memory(1, *f.device);
  const Stream outer(*f.device), inner(*f.device);
  const Place at_outer(outer), at_inner(inner);
  std::array<void*, 1> none{};
  {
    const detail::KernelCall call(at_outer, {}, none);
    const detail::KernelCall within(at_inner, {}, none);
  }
  inner.Synchronize();
  outer.Synchronize();
  const auto ran = Only(f.Events(), "X", "device kernel");
  REQUIRE(ran.size() == 2);
  CHECK_FALSE(OnOneTrack(ran[0], ran[1]));
}

TEST_CASE("The end of one memory takes nothing from its device's others, older than the trace as they are") {
  LateTrace f;
  f.trace.reset();
  Array<float> x(100, *f.device);
  Set(Place(*f.device), 1.0F, x);
  f.trace.emplace(f.file);
  Scale(Place(*f.device), 2.0F, x);
  { const SyncedMemory other(4, *f.device); }
  static_cast<void>(Place::Cpu(*f.device).Read(x));
  CHECK(Only(f.Events(), "X", "device kernel").size() == 1);
}

/// As where streams share a queue of the hardware: nothing is reached before the host has waited for it.
struct OneQueue : FullForwardingDevice {
  OneQueue() : FullForwardingDevice(MakeDevice("sim:0")) {}
  bool Reached(EventHandle event) noexcept override { return waited && next().Reached(event); }
  void HostWait(EventHandle event) override {
    waited = true;
    next().HostWait(event);
  }
  bool waited = false;
};

TEST_CASE("The end of a trace waits for the work that it has no times of yet") {
  LateTrace f;
  OneQueue device;
  Array<float> x(100, device);
  Set(Place(device), 1.0F, x);
  CHECK(Only(f.Events(), "X", "device kernel").size() == 1);
}

TEST_CASE("A device without memories may end before the trace, and has no times") {
  LateTrace f;
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  {
    const auto device = MakeDevice("sim:1");
    std::array<void*, 1> none{};
    const Place place(*device);
    const detail::KernelCall call(place, {}, none);
  }
  CHECK(Only(f.Events(), "X", "device kernel").empty());
  SetLogSink({});
  CHECK(lines.empty());  // of an event that outlives its device
}

TEST_CASE("A device may end before the trace, with work that nobody waited for") {
  LateTrace f;
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  {
    const auto second = MakeDevice("sim:1");
    Array<float> x(100, *f.device), there(100, *second);
    Set(Place(*f.device), 1.0F, x);
    Set(Place(*second), 1.0F, there);
    static_cast<void>(Place(*second).Read(x));
  }
  f.device.reset();
  sim::Reset({.order = sim::Order::kLate});
  f.device = MakeDevice("sim:0");
  Array<float> x(100, *f.device);
  Set(Place(*f.device), 1.0F, x);
  CHECK(Only(f.Events(), "X", "device kernel").size() == 1);
  SetLogSink({});
  CHECK(lines.empty());
}

TEST_CASE(
    "By the device's clock no slice of a stream begins before the last one's end, whatever their anchors") {
  LateTrace f;
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  Array<float> x(100, *f.device);
  for (int i = 0; i < 500; ++i)
    Scale(gpu, 2.0F, x), cpu.Read(x), cpu.ReadWrite(x);  // each wait makes an anchor
  double end = 0;
  for (const Json& event : f.Events()) {
    if (event.Text("ph") != "X" || !event.Text("cat").starts_with("device ")) continue;
    REQUIRE(event.Number("ts") >= end - 1e-4);
    end = EndOf(event);
  }
  CHECK(end > 0);
}

TEST_CASE("Two devices of one name have times, each by an anchor of its own") {
  LateTrace f;
  const auto second = MakeDevice("sim:0");
  Array<float> x(100, *f.device), y(100, *second);
  Set(Place(*f.device), 1.0F, x);
  Set(Place(*second), 1.0F, y);
  Stream::Main(*second).Synchronize();
  CHECK(Only(f.Events(), "X", "device kernel").size() == 2);
}

TEST_CASE("Of a stream that nobody waits for, the last calls have times") {
  LateTrace f;
  Array<float> x(10, *f.device);
  for (int i = 0; i < 1100; ++i) Set(Place(*f.device), 1.0F, x);
  CHECK(Only(f.Events(), "X", "device kernel").size() == 1024);
}

TEST_CASE("Of a stream whose work is over now and then, all calls have times") {
  LateTrace f;
  Array<float> x(10, *f.device);
  const Stream main = Stream::Main(*f.device);
  for (int i = 0; i < 1300; ++i) {
    Set(Place(*f.device), 1.0F, x);
    if (i % 100 == 0) f.device->Synchronize(main.handle());  // the trace is told of no wait
  }
  CHECK(Only(f.Events(), "X", "device kernel").size() == 1300);
}

TEST_CASE("Of streams that share a track, each has its times") {
  LateTrace f;
  constexpr std::size_t kStreams = 1030;  // and 1024 have a track of their own
  std::vector<Stream> streams;
  std::vector<Array<float>> arrays;
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams.emplace_back(*f.device);
    arrays.emplace_back(1, *f.device);
    Set(Place(streams[i]), 1.0F, arrays[i]);
  }
  CHECK(Only(f.Events(), "X", "device kernel").size() == kStreams);
}

TEST_CASE("A report of overlap is by the device's clock where there is one") {
  LateTrace f;
  Array<float> x(100, *f.device, "x");
  Set(Place::Cpu(*f.device), 1.0F, x);
  Scale(Place(*f.device), 2.0F, x);
  static_cast<void>(Place::Cpu(*f.device).Read(x));
  static_cast<void>(f.Events());
  std::ifstream in(f.file, std::ios::binary);
  const report::Trace trace = report::ReadTrace(in);
  const report::Space& space = trace.spaces.at(2);
  CHECK(space.best_clock() == report::ClockOf::kDevice);
  CHECK(space.busy[0].copies.size() == 2);
  CHECK(space.busy[1].copies.size() == 2);
  CHECK(space.busy[1].kernels.size() == 1);
  std::uint64_t copies = 0;
  for (const auto& [key, pair] : trace.pairs) copies += pair.count;
  CHECK(copies == 2);  // each once
}

}  // namespace
}  // namespace ferry::testing
