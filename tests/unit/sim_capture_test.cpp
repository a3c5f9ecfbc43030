// SPDX-License-Identifier: BSD-2-Clause
// What a stream under graph capture, of the program's own, must not notice of Ferry, and Ferry of it.
#include <algorithm>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "ferry/error.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using sim::CaptureMode;
using sim::SimRuntime;

constexpr CaptureMode kModes[] = {CaptureMode::kGlobal, CaptureMode::kThreadLocal, CaptureMode::kRelaxed};

/// All that a device can be asked for, on `on`.
void UseAll(Device& device, const Stream& on) {
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
    device.Deallocate(kind, device.Allocate(kind, kBytes, on.handle()), kBytes, on.handle());
  {
    SyncedMemory memory(kBytes, device);
    memory.mutable_cpu_data();
    memory.mutable_gpu_data(on);
    memory.cpu_data();
  }
  const Stream brief(device);
  const Event point(brief);
  point.StreamWait(on);
  point.HostWait();
  on.Synchronize();
  device.Trim();
  CHECK(MakeDevice("sim") != nullptr);
}

TEST_CASE("a capture on another stream survives all of Ferry's calls, in each mode and from each thread") {
  for (const CaptureMode mode : kModes) {
    for (const bool memory_pools : {true, false}) {
      for (const bool elsewhere : {true, false}) {
        INFO(static_cast<int>(mode) << memory_pools << elsewhere);
        SimWorld world({.memory_pools = memory_pools});
        const Stream captured(world.device);
        sim::BeginCapture(captured, mode);
        if (elsewhere)
          std::thread([&] { UseAll(world.device, world.side); }).join();
        else
          UseAll(world.device, world.side);
        CHECK_NOTHROW(sim::EndCapture(captured));
        CHECK(sim::Inspect().misuse.empty());
      }
    }
  }
}

TEST_CASE("memory that runs out while a capture holds the main stream up is out of memory") {
  sim::Reset({.memory = 1024, .capture_spreads = true});
  PooledDevice device(std::make_unique<SimDevice>(0));
  const Stream on(device);
  const BlockingStream captured(device.next());
  device.Deallocate(MemoryKind::kDevice, device.Allocate(MemoryKind::kDevice, 512, on.handle()), 512,
                    on.handle());
  sim::BeginCapture(*captured);
  CHECK_THROWS_AS(device.Allocate(MemoryKind::kDevice, 2048, on.handle()), OutOfMemory);
  void* const all = device.Allocate(MemoryKind::kDevice, 1024, on.handle());
  device.Deallocate(MemoryKind::kDevice, all, 1024, on.handle());
  sim::EndCapture(*captured);
}

TEST_CASE("a pool gives back what a stream that is gone has used, though the main stream is held up") {
  for (const bool memory_pools : {true, false}) {
    for (const bool events_need_stream : {true, false}) {
      INFO(memory_pools << events_need_stream);
      sim::Reset(
          {.memory_pools = memory_pools, .events_need_stream = events_need_stream, .capture_spreads = true});
      bool ran = false;
      {
        PooledDevice device(std::make_unique<SimDevice>(0));
        const BlockingStream captured(device.next());
        const StreamHandle theirs = sim::CreateBlockingStream(device);
        const Stream lent = Stream::Borrow(device, theirs);
        void* const block = device.Allocate(MemoryKind::kDevice, kBytes, theirs);
        sim::Launch(lent, {block}, [&] { ran = true; });
        device.Deallocate(MemoryKind::kDevice, block, kBytes, theirs);
        device.next().DestroyStream(theirs);
        sim::BeginCapture(*captured);
        CHECK_THROWS_AS(device.Trim(), StreamCaptureError);
        CHECK_NOTHROW(sim::EndCapture(*captured));
        const auto left = sim::Inspect().leaks;
        CHECK(
            std::none_of(left.begin(), left.end(), [](const auto& leak) { return Contains(leak, "bytes"); }));
      }
      sim::Drain();
      CHECK(ran);
      CHECK(sim::Inspect().misuse.empty());
      CHECK(sim::Inspect().leaks.empty());
    }
  }
}

TEST_CASE("a call that is not safe ends the captures that its thread's mode does not exempt, and fails") {
  struct Row {
    CaptureMode capture;
    SimRuntime::CaptureMode thread;
    bool other_thread, ends;
  };
  const auto row = GENERATE(values<Row>({
      {CaptureMode::kGlobal, SimRuntime::kCaptureGlobal, false, true},
      {CaptureMode::kGlobal, SimRuntime::kCaptureGlobal, true, true},
      {CaptureMode::kGlobal, SimRuntime::kCaptureThreadLocal, false, true},
      {CaptureMode::kGlobal, SimRuntime::kCaptureThreadLocal, true, false},
      {CaptureMode::kGlobal, SimRuntime::kCaptureRelaxed, false, false},
      {CaptureMode::kThreadLocal, SimRuntime::kCaptureGlobal, false, true},
      {CaptureMode::kThreadLocal, SimRuntime::kCaptureGlobal, true, false},
      {CaptureMode::kRelaxed, SimRuntime::kCaptureGlobal, false, false},
  }));
  SimWorld world;
  sim::BeginCapture(world.side, row.capture);
  const auto call = [&] {
    auto mode = row.thread;
    (void)SimRuntime::ThreadExchangeStreamCaptureMode(&mode);
    void* ptr = nullptr;
    const auto error = SimRuntime::MallocHost(&ptr, kBytes);
    CHECK(error == (row.ends ? SimRuntime::kStreamCaptureUnsupported : SimRuntime::kSuccess));
    if (error == SimRuntime::kSuccess) CHECK(SimRuntime::FreeHost(ptr) == SimRuntime::kSuccess);
    (void)SimRuntime::ThreadExchangeStreamCaptureMode(&mode);
    CHECK(mode == row.thread);
  };
  if (row.other_thread)
    std::thread(call).join();
  else
    call();
  if (row.ends)
    CHECK_THROWS_AS(sim::EndCapture(world.side), DeviceError);
  else
    CHECK_NOTHROW(sim::EndCapture(world.side));
  (void)SimRuntime::GetLastError();
}

TEST_CASE("a capture that has not begun, or has ended, can't be ended") {
  SimWorld world;
  const auto refused = [&] {
    CHECK_THROWS_MATCHES(
        sim::EndCapture(world.side), DeviceError,
        Message("sim EndCapture: kIllegalState, the stream is not under graph capture (401)"));
    CHECK(Contains(OnlyMisuse(), "EndCapture"));
  };
  SECTION("none has begun") { refused(); }
  SECTION("it has ended") {
    sim::BeginCapture(world.side);
    sim::EndCapture(world.side);
    refused();
  }
}

TEST_CASE("a wait for the device ends captures of any mode on it, and no other, even from a relaxed thread") {
  for (const CaptureMode mode : kModes) {
    INFO(static_cast<int>(mode));
    SimWorld world({.devices = 2});
    SimDevice second(1);
    const Stream elsewhere(second);
    sim::BeginCapture(world.side, mode);
    sim::BeginCapture(elsewhere, mode);
    auto relaxed = SimRuntime::kCaptureRelaxed;
    (void)SimRuntime::ThreadExchangeStreamCaptureMode(&relaxed);
    CHECK(SimRuntime::DeviceSynchronize() == SimRuntime::kStreamCaptureUnsupported);
    (void)SimRuntime::ThreadExchangeStreamCaptureMode(&relaxed);
    CHECK_THROWS_AS(sim::EndCapture(world.side), DeviceError);
    CHECK_NOTHROW(sim::EndCapture(elsewhere));
    (void)SimRuntime::GetLastError();
  }
}

TEST_CASE("a call of Ferry's leaves its thread's own calls as unsafe for a capture as they were") {
  for (const auto own :
       {SimRuntime::kCaptureGlobal, SimRuntime::kCaptureThreadLocal, SimRuntime::kCaptureRelaxed}) {
    SimWorld world;
    auto mode = own;
    (void)SimRuntime::ThreadExchangeStreamCaptureMode(&mode);
    UseAll(world.device, world.side);
    mode = SimRuntime::kCaptureGlobal;
    (void)SimRuntime::ThreadExchangeStreamCaptureMode(&mode);
    CHECK(mode == own);
  }
}

/// Work on a device whose stream and memory are dropped under capture, and then the device ends.
struct EndsWithKept {
  explicit EndsWithKept(int captured) : other(captured) {
    {
      const Stream brief(*device);
      void* const block = device->Allocate(MemoryKind::kDevice, kBytes, brief.handle());
      sim::Launch(brief, {block}, [this] { ran = true; });
      sim::BeginCapture(brief);
      device->Deallocate(MemoryKind::kDevice, block, kBytes, brief.handle());
    }
    capture.emplace(other);
    sim::BeginCapture(*capture);
    device.reset();
  }
  int reset = (sim::Reset({.order = sim::Order::kLate, .devices = 2}), 0);
  std::unique_ptr<SimDevice> device = std::make_unique<SimDevice>(0);
  SimDevice other;
  std::optional<Stream> capture;
  bool ran = false;
};

/// That were not given back.
long BlocksLeft() {
  const auto leaks = sim::Inspect().leaks;
  return std::count_if(leaks.begin(), leaks.end(),
                       [](const std::string& leak) { return Contains(leak, "bytes"); });
}

TEST_CASE("a device that ends with kept memory leaves captures on other devices alone") {
  EndsWithKept world(1);
  CHECK_NOTHROW(sim::EndCapture(*world.capture));
  CHECK(world.ran);
  CHECK(BlocksLeft() == 0);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a device that can't wait at its end for what uses kept memory does not give that back") {
  EndsWithKept world(0);
  CHECK_FALSE(world.ran);
  CHECK(BlocksLeft() == 1);
  CHECK_THROWS_AS(sim::EndCapture(*world.capture), DeviceError);  // ended by the wait
  CHECK(Contains(OnlyMisuse(), "DeviceSynchronize"));
  sim::Drain();
  CHECK(world.ran);
}

}  // namespace
}  // namespace ferry::testing
