// SPDX-License-Identifier: BSD-2-Clause
// Where the vendors' runtimes differ, by docs/decisions/0030: the same code is right on each.
#include <array>
#include <cstring>

#include "ferry/backend.hpp"
#include "ferry/blob.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

bool Faultless() {
  sim::Drain();
  return sim::Inspect().misuse.empty();
}

TEST_CASE("without memory pools a free waits for its stream, and no other") {
  SimWorld world({.memory_pools = false});
  std::byte* const block = world.NewDevice(world.side);
  bool ran = false, other = false;
  sim::Launch(world.side, {block}, [&] { ran = true; });
  sim::Launch(world.main, {}, [&] { other = true; });
  world.Free(MemoryKind::kDevice, block, world.side);
  CHECK(ran);
  while (!other) world.Free(MemoryKind::kDevice, world.NewDevice(world.main), world.main);
  CHECK(Faultless());
}

TEST_CASE("without memory pools memory freed on a captured stream is given back after the capture") {
  SimWorld world({.memory = kBytes, .memory_pools = false});
  std::byte* const block = world.NewDevice(world.side);
  sim::BeginCapture(world.side);
  world.Free(MemoryKind::kDevice, block, world.side);
  CHECK_THROWS_AS(world.NewDevice(world.main), OutOfMemory);
  sim::EndCapture(world.side);
  CHECK(world.NewDevice(world.side) != nullptr);
  CHECK(Faultless());
}

TEST_CASE("a pool that is asked of a device without one says so") {
  SimWorld world({.memory_pools = false});
  void* ptr = nullptr;
  CHECK(SimRuntime::MallocAsync(&ptr, kBytes, Native(world.main)) == SimRuntime::kNotSupported);
  CHECK(Contains(OnlyMisuse(), "no memory pools"));
}

TEST_CASE("success with a null pointer is out of memory") {
  SimWorld world({.memory = kBytes, .null_when_full = true});
  std::byte* const block = world.NewDevice(world.main);
  CHECK_THROWS_AS(world.NewDevice(world.main), OutOfMemory);
  world.Free(MemoryKind::kDevice, block, world.main);
  CHECK(world.NewDevice(world.main) != nullptr);
}

TEST_CASE("where pinned memory is refused the host's side throws, and the GPU and adopted bytes go on") {
  sim::Reset({.pinned_memory = 1});
  const auto device = MakeDevice("sim");
  SyncedMemory memory(kBytes, *device);
  CHECK_THROWS_AS(memory.mutable_cpu_data(), OutOfMemory);
  CHECK(memory.head() == SyncedMemory::UNINITIALIZED);
  CHECK(memory.mutable_gpu_data() != nullptr);
  CHECK_THROWS_AS(memory.cpu_data(), OutOfMemory);
  CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);
  std::array<std::byte, kBytes> mine{std::byte{7}};
  memory.set_cpu_data(mine.data());
  CHECK(memory.mutable_gpu_data() != nullptr);
  CHECK(static_cast<const std::byte*>(memory.cpu_data())[0] == std::byte{7});
  CHECK(Faultless());
}

TEST_CASE("no runtime is asked for no bytes, whatever it would say") {
  for (const bool zero_bytes : {false, true}) {
    sim::Reset({.zero_bytes = zero_bytes});
    const auto device = MakeDevice("sim");
    SyncedMemory memory(0, *device);
    memory.mutable_cpu_data();
    memory.mutable_gpu_data();
    memory.Prefetch(Side::kCpu, Stream::Main(*device));
    memory.cpu_data();
    Blob<float> blob({0, 3}, *device), copy({0, 3}, *device);
    blob.mutable_gpu_data();
    copy.CopyFrom(blob);
    CHECK(copy.asum_data() == 0);
    CHECK(sim::Inspect().calls == 0);
    CHECK(Faultless());
  }
}

TEST_CASE("an allocation of no bytes is no null pointer, where a runtime would make it one") {
  SimWorld world({.zero_bytes = true});
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
    CHECK_THROWS_AS(world.device.Allocate(kind, 0, world.main.handle()), OutOfMemory);
  CHECK(SimRuntime::MemcpyAsync(nullptr, nullptr, 0, SimRuntime::kHostToDevice, Native(world.main)) ==
        SimRuntime::kSuccess);
  CHECK(Faultless());
}

TEST_CASE("an answer that is no error, left by the program, is not taken for one") {
  for (const bool last_call_only : {false, true}) {
    sim::Reset({.last_call_only = last_call_only});
    const auto device = MakeDevice("sim");
    const Stream side(*device);
    SyncedMemory memory(kBytes, *device);
    void* const ptr = memory.mutable_gpu_data(side);
    sim::Launch(side, {ptr}, [=] { std::memset(ptr, 7, kBytes); });
    REQUIRE(SimRuntime::StreamQuery(Native(side)) == SimRuntime::kNotReady);
    CHECK(static_cast<const char*>(memory.cpu_data())[0] == 7);
    CHECK(SimRuntime::StreamQuery(Native(side)) == SimRuntime::kSuccess);
    CHECK(SimRuntime::GetLastError() == (last_call_only ? SimRuntime::kSuccess : SimRuntime::kNotReady));
  }
}

TEST_CASE("an error that was thrown is not found again as the last one") {
  for (const bool last_call_only : {false, true}) {
    SimWorld world({.last_call_only = last_call_only, .fail_at = 2, .fail_call = {}});
    CHECK_THROWS_AS(world.NewDevice(world.main), OutOfMemory);
    CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  }
}

TEST_CASE("an error that sticks is thrown by every access that needs the device, and by none that does not") {
  sim::Reset({.devices = 2, .last_call_only = true});
  const auto failing = MakeDevice("sim:0"), other = MakeDevice("sim:1");
  SyncedMemory here(kBytes, *failing), there(kBytes, *other);
  std::memset(here.mutable_cpu_data(), 7, kBytes);
  sim::Launch(Stream::Main(*failing), {}, [] { throw 1; });
  CHECK_THROWS_AS(Stream::Main(*failing).Synchronize(), DeviceError);
  for (int again = 0; again < 2; ++again) CHECK_THROWS(here.gpu_data());
  CHECK(static_cast<const char*>(here.cpu_data())[0] == 7);
  CHECK(there.mutable_gpu_data() != nullptr);
}

TEST_CASE("a device says how many threads run in step, and its architecture with its features") {
  for (const int wavefront : {32, 64}) {
    sim::Reset({.wavefront = wavefront, .architecture = "gfx942:sramecc+:xnack-"});
    const auto device = MakeDevice("sim");
    CHECK(device->properties().wavefront == wavefront);
    CHECK(device->properties().architecture == "gfx942:sramecc+:xnack-");
  }
}

TEST_CASE("copies of pageable memory may wait for the whole device; those of Ferry's own memory do not") {
  sim::Reset({.pageable_serialises = true});
  const auto device = MakeDevice("sim");
  const Stream side(*device);
  bool ran = false;
  sim::Launch(side, {}, [&] { ran = true; });
  SyncedMemory own(kBytes, *device), adopted(kBytes, *device);
  own.mutable_cpu_data();
  own.gpu_data();
  own.Prefetch(Side::kGpu, Stream::Main(*device));
  CHECK_FALSE(ran);
  std::array<std::byte, kBytes> mine{std::byte{7}};
  adopted.set_cpu_data(mine.data());
  adopted.mutable_gpu_data();
  CHECK(ran);
  mine[0] = {};
  CHECK(static_cast<const std::byte*>(adopted.cpu_data())[0] == std::byte{7});
  CHECK(Faultless());
}

TEST_CASE("coarse-grained host memory shows what was written once the host has waited, not before") {
  SimWorld world({.coarse_host_memory = true});
  std::byte* const block = world.NewDevice(world.main);
  std::byte* const host = world.NewPinned();
  std::array<std::byte, kBytes> pageable{};
  world.device.Fill(block, std::byte{7}, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToHost, host, block, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToHost, pageable.data(), block, kBytes, world.main.handle());
  CHECK(pageable[0] == std::byte{7});  // so the copy before it has run
  CHECK(host[0] == std::byte{0xA5});
  world.device.Copy(CopyKind::kHostToDevice, block, host, kBytes, world.main.handle());
  Event(world.main).HostWait();
  CHECK(host[0] == std::byte{7});
}

TEST_CASE("an access of coarse-grained host memory waits for what a copy of other memory has made run") {
  sim::Reset({.pageable_serialises = true, .coarse_host_memory = true});
  const auto device = MakeDevice("sim");
  const Stream side(*device);
  SyncedMemory memory(kBytes, *device), adopted(kBytes, *device);
  void* const ptr = memory.mutable_gpu_data(side);
  sim::Launch(side, {ptr}, [=] { std::memset(ptr, 7, kBytes); });
  memory.Prefetch(Side::kCpu, side);
  std::array<std::byte, kBytes> mine{};
  adopted.set_cpu_data(mine.data());
  adopted.gpu_data();
  CHECK(static_cast<const std::byte*>(memory.cpu_data())[kBytes - 1] == std::byte{7});
  CHECK(Faultless());
}

TEST_CASE("a device that is not unified is never asked for managed memory, and one that is copies nothing") {
  for (const bool unified : {false, true}) {
    sim::Reset({.unified = unified, .fail_at = 3, .fail_call = "MallocManaged"});
    {
      const auto device = MakeDevice("sim");
      SyncedMemory memory(kBytes, *device);
      std::memset(memory.mutable_cpu_data(), 7, kBytes);
      void* const ptr = memory.mutable_gpu_data();
      sim::Launch(Stream::Main(*device), {ptr}, [=] { static_cast<std::byte*>(ptr)[0] = std::byte{8}; });
      CHECK(static_cast<const std::byte*>(memory.cpu_data())[0] == std::byte{8});
      CHECK((ptr == memory.cpu_data()) == unified);
    }
    const auto report = sim::Inspect();
    CHECK(report.calls == (unified ? 1 : 0));
    CHECK(report.copies == (unified ? 0 : 2));
    CHECK(report.host_waits > 0);
  }
}

TEST_CASE("a main stream that would wait for a captured one is as good as captured") {
  SimWorld world({.capture_spreads = true});
  std::byte* const block = world.NewDevice(world.main);
  sim::BeginCapture(world.side);  // which does not block
  CHECK_NOTHROW(world.device.Fill(block, {}, kBytes, world.main.handle()));
  sim::EndCapture(world.side);
  const BlockingStream captured(world.device);
  sim::BeginCapture(*captured);
  CHECK_THROWS_AS(world.device.Fill(block, {}, kBytes, world.main.handle()), DeviceError);
  world.Free(MemoryKind::kDevice, block, world.main);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  sim::EndCapture(*captured);
  CHECK(world.NewDevice(world.main) != nullptr);
  CHECK(sim::Inspect().leaks.size() == 3);  // the streams, and what was made just now
  CHECK(Faultless());
}

}  // namespace
}  // namespace ferry::testing
