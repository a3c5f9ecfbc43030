// SPDX-License-Identifier: BSD-2-Clause
#include <functional>
#include <memory>
#include <utility>

#include "backends/sim/sim_backend.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

int CurrentDevice() {
  int index = -1;
  REQUIRE(SimRuntime::GetDevice(&index) == SimRuntime::kSuccess);
  return index;
}

/// A new machine, whose first device the program uses beside Ferry: it stays the current one.
void ResetInUse(const sim::Options& options) {
  sim::Reset(options);
  REQUIRE(SimRuntime::DeviceSynchronize() == SimRuntime::kSuccess);
}

/// What a caller may do with a device, by the name of the runtime's call that does it.
std::vector<std::pair<std::string, std::function<void()>>> Calls(SimDevice& device, const Stream& stream,
                                                                 void* block, void* host,
                                                                 const Event& point) {
  const auto on = stream.handle();
  return {{"MallocAsync", [=, &device] { device.Allocate(MemoryKind::kDevice, kBytes, on); }},
          {"MemcpyAsync", [=, &device] { device.Copy(CopyKind::kHostToDevice, block, host, kBytes, on); }},
          {"MemsetAsync", [=, &device] { device.Fill(block, {}, kBytes, on); }},
          {"StreamSynchronize", [=, &device] { device.Synchronize(on); }},
          {"EventRecord", [=, &device] { device.Release(device.Record(on)); }},
          {"StreamWaitEvent", [=, &device] { device.StreamWait(on, point.handle()); }},
          {"MallocHost", [=, &device] { device.Allocate(MemoryKind::kPinnedHost, kBytes, on); }},
          {"MallocManaged", [=, &device] { device.Allocate(MemoryKind::kManaged, kBytes, on); }},
          {"StreamCreate", [=, &device] { device.DestroyStream(device.CreateStream()); }},
          {"EventCreate", [=, &device] { device.Release(device.Record(on)); }},
          {"EventCreateMeasuring", [=, &device] { device.Release(device.RecordMeasuring(on)); }},
          {"EventSynchronize", [=, &device] { device.HostWait(point.handle()); }}};
}
constexpr int kCallsOnAStream = 6;  // the first ones

/// Calls `each` with the name and the deed of each call, on a second device of a new machine.
template <class Each>
void ForEachCall(const sim::Options& options, Each each) {
  for (std::size_t i = 0; i < 12; ++i) {
    ResetInUse(options);
    SimDevice device{1};
    const Stream stream(device);
    const Event point(stream);
    void* const block = device.Allocate(MemoryKind::kDevice, kBytes, stream.handle());
    void* const host = device.Allocate(MemoryKind::kPinnedHost, kBytes, stream.handle());
    const auto [name, deed] = Calls(device, stream, block, host, point)[i];
    each(name, deed, stream, i < kCallsOnAStream);
  }
}

TEST_CASE("each call makes its device current and puts the caller's back") {
  ForEachCall({.devices = 2}, [](const auto& name, const auto& deed, const Stream&, bool) {
    INFO(name);
    deed();
    CHECK(CurrentDevice() == 0);
    CHECK(sim::Inspect().misuse.empty());
    REQUIRE(SimRuntime::SetDevice(1) == SimRuntime::kSuccess);
    deed();
    CHECK(CurrentDevice() == 1);
  });
}

TEST_CASE("what gives back works whichever device is current, and leaves it so") {
  ResetInUse({.devices = 2});
  {
    SimDevice device{1};
    const Stream stream(device);
    const Event point(stream);
    for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
      device.Deallocate(kind, device.Allocate(kind, kBytes, stream.handle()), kBytes, stream.handle());
    CHECK(CurrentDevice() == 0);
  }
  CHECK(CurrentDevice() == 0);
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a device index that is not there is an error") {
  sim::Reset({.devices = 2});
  CHECK_THROWS_AS(SimDevice{2}, DeviceError);
  CHECK_THROWS_AS(SimDevice{-1}, DeviceError);
  CHECK(CurrentDevice() == 0);
}

TEST_CASE("the properties say what the simulator is") {
  sim::Reset({.devices = 2, .memory = 1000, .unified = true});
  const SimDevice device{1};
  const auto& properties = device.properties();
  CHECK(properties.backend == "sim");
  CHECK(properties.name == "Simulated GPU");
  CHECK(properties.index == 1);
  CHECK(properties.memory == 1000);
  CHECK(properties.unified);
  CHECK(properties.launch != nullptr);
}

TEST_CASE("the backend counts and makes the machine's devices") {
  sim::Reset({.devices = 3});
  CHECK(std::string(sim::kBackend.name) == "sim");
  CHECK(sim::kBackend.count() == 3);
  CHECK(sim::kBackend.make(2)->properties().index == 2);
}

TEST_CASE("a device that is described, or made and not used, has no context") {
  sim::Reset({.devices = 3});
  CHECK(sim::kBackend.describe(2).index == 2);
  CHECK(sim::kBackend.make(1)->properties().index == 1);
  CHECK(sim::Inspect().contexts == 0);
  CHECK(CurrentDevice() == 0);
}

TEST_CASE("each call that fails names itself, the code, the vendor's text and the device") {
  std::vector<std::string> names;
  ForEachCall({.devices = 2},
              [&](const std::string& name, const auto&, const Stream&, bool) { names.push_back(name); });
  for (const std::string& name : names) {
    INFO(name);
    ResetInUse({.devices = 2, .fail_at = 1, .fail_call = name});
    SimDevice device{1};
    try {
      const Stream stream(device);
      const Event point(stream);
      void* const block = device.Allocate(MemoryKind::kDevice, kBytes, stream.handle());
      void* const host = device.Allocate(MemoryKind::kPinnedHost, kBytes, stream.handle());
      for (const auto& [called, deed] : Calls(device, stream, block, host, point)) deed();
      FAIL("nothing failed");
    } catch (const DeviceError& error) {
      CHECK(error.call() == "sim " + name);
      CHECK(error.code() == SimRuntime::kInjected);
      CHECK(error.what() == "sim " + name + ": kInjected, injected fault, on sim:1 (999)");
    } catch (const OutOfMemory& error) {
      CHECK(name.starts_with("Malloc"));
      const std::string whose = name == "MallocHost" ? "host memory pinned for sim:1" : "sim:1";
      CHECK(error.what() == whose + ": cannot allocate 64 bytes");
    }
    CHECK(CurrentDevice() == 0);
    CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  }
}

TEST_CASE("a call whose device cannot be made current does nothing") {
  for (const std::string call : {"GetDevice", "SetDevice", "StreamIsCapturing"}) {
    INFO(call);
    ResetInUse({.devices = 2, .fail_at = 3, .fail_call = call});  // the first two are of the constructor
    SimDevice device{1};
    const auto allocate = [&] { device.Allocate(MemoryKind::kDevice, 1, device.properties().main_stream); };
    int failed = 0;
    for (int i = 0; i < 3; ++i) try {
        allocate();
      } catch (const DeviceError& error) {
        CHECK(error.call() == "sim " + call);
        ++failed;
      }
    CHECK(failed == 1);
    CHECK(sim::Inspect().leaks.size() == 2);
    CHECK(CurrentDevice() == 0);
  }
}

/// A memory of a second device, that a kernel and a reader's captured stream use, dies; the n-th `call`
/// fails. Returns whether that came.
bool GivesBackDespite(const std::string& call, long n, bool memory_pools) {
  INFO(call << " " << n << (memory_pools ? ", memory pools" : ""));
  ResetInUse({.devices = 2, .memory_pools = memory_pools, .fail_at = n, .fail_call = call});
  int ran = 0;
  try {
    SimDevice device{1};
    const Stream writer(device), reader(device);
    {
      SyncedMemory written(kBytes, device), read(kBytes, device);
      for (SyncedMemory* const memory : {&written, &read}) {
        void* const bytes = memory->overwrite_gpu_data(writer);
        sim::Launch(writer, {bytes}, [&ran] { ++ran; });
      }
      read.gpu_data(reader);
      sim::BeginCapture(reader);
    }
    CHECK_NOTHROW(sim::EndCapture(reader));
  } catch (const DeviceError&) {  // one of the accesses
  }
  sim::Drain();
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  return sim::Inspect().faults != 0;
}

TEST_CASE(
    "a block whose device or stream cannot be asked goes back later, not on another stream or into a graph") {
  for (const std::string call : {"GetDevice", "SetDevice", "StreamIsCapturing"})
    for (const bool memory_pools : {true, false})
      for (long n = 1; GivesBackDespite(call, n, memory_pools); ++n) continue;
}

TEST_CASE("a failed record gives its event back") {
  SimWorld world({.fail_at = 1, .fail_call = "EventRecord"});
  CHECK_THROWS_AS(Event(world.main), DeviceError);
  CHECK(sim::Inspect().leaks == std::vector<std::string>{"StreamCreate (call 1): a stream"});
}

TEST_CASE("no call that needs a stream goes through while it is captured") {
  ForEachCall({.devices = 2}, [](const auto& name, const auto& deed, const Stream& stream, bool on_a_stream) {
    INFO(name);
    const auto calls = sim::Inspect().calls;
    sim::BeginCapture(stream);
    if (on_a_stream) {
      try {
        deed();
        FAIL("the stream is captured");
      } catch (const DeviceError& error) {
        CHECK(error.what() == "sim " + name + ": the stream is under graph capture, on sim:1 (900)");
      }
      CHECK(sim::Inspect().calls == calls);  // nothing reached the runtime
      sim::EndCapture(stream);
    }
    if (!name.starts_with("EventCreate")) CHECK_NOTHROW(deed());
    CHECK(sim::Inspect().misuse.empty());
  });
}

TEST_CASE("a kernel on a captured stream is part of the graph, and a main stream cannot be captured") {
  SimWorld world;
  auto* const block = world.NewDevice(world.side);
  bool ran = false;
  sim::BeginCapture(world.side);
  CHECK_NOTHROW(sim::Launch(world.side, {block}, [&] { ran = true; }));
  CHECK_THROWS_AS(sim::Launch(world.side, {{block, kBytes + 1}}, [] {}), DeviceError);
  CHECK(sim::Inspect().captured == 1);
  CHECK_THROWS_AS(sim::BeginCapture(world.main), DeviceError);
  CHECK_NOTHROW(sim::Launch(world.main, {}, [] {}));
  sim::EndCapture(world.side);
  sim::Drain();
  CHECK_FALSE(ran);
}

TEST_CASE("what gives back survives a driver that is gone") {
  for (const std::string call : {"FreeAsync", "FreeHost", "Free", "StreamDestroy", "EventDestroy"}) {
    sim::Reset({.fail_at = 1, .fail_call = call, .fail_forever = true});
    {
      SimDevice device{0};
      const Stream stream(device);
      const Event point(stream);
      for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
        try {
          device.Deallocate(kind, device.Allocate(kind, kBytes, stream.handle()), kBytes, stream.handle());
        } catch (const std::exception&) {
          CHECK(kind != MemoryKind::kDevice);  // gone since an earlier free
        }
      }
    }
    CHECK_FALSE(sim::Inspect().leaks.empty());
    CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  }
}

}  // namespace
}  // namespace ferry::testing
