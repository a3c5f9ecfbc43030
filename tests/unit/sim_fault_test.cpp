// SPDX-License-Identifier: BSD-2-Clause
#include <memory>
#include <optional>
#include <stdexcept>

#include "ferry/error.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

TEST_CASE("the n-th call fails, once, and does nothing") {
  SimWorld world({.fail_at = 3});
  auto* const block = world.NewDevice(world.main);
  CHECK_THROWS_AS(world.device.Fill(block, std::byte{1}, kBytes, world.main.handle()), DeviceError);
  std::byte seen{};
  sim::Launch(world.main, {block}, [&] { seen = block[0]; });
  sim::Drain();
  CHECK(seen == std::byte{0xA5});
  CHECK_NOTHROW(world.device.Fill(block, std::byte{1}, kBytes, world.main.handle()));
  CHECK(sim::Inspect().calls == 4);
}

TEST_CASE("a late fault comes after the work was queued") {
  SimWorld world({.fail_at = 3, .fail_late = true});
  auto* const block = world.NewDevice(world.main);
  CHECK_THROWS_AS(world.device.Fill(block, std::byte{1}, kBytes, world.main.handle()), DeviceError);
  std::byte seen{};
  sim::Launch(world.main, {block}, [&] { seen = block[0]; });
  sim::Drain();
  CHECK(seen == std::byte{1});
}

TEST_CASE("a launch can report an error and have run") {
  for (const bool late : {false, true}) {
    SimWorld world({.fail_at = 1, .fail_call = "Launch", .fail_late = late});
    bool ran = false;
    CHECK_THROWS_AS(sim::Launch(world.side, {}, [&] { ran = true; }), DeviceError);
    sim::Drain();
    CHECK(ran == late);
  }
}

TEST_CASE("a late fault of what makes something comes instead") {
  for (const char* const call : {"MallocAsync", "StreamCreate", "EventCreate"}) {
    sim::Reset({.fail_at = 1, .fail_call = call, .fail_late = true});
    int failed = 0;
    {
      SimDevice device{0};
      std::optional<Stream> stream;
      try {
        stream.emplace(device);
      } catch (const DeviceError&) {
        ++failed;
      }
      try {
        const Event point(Stream::Main(device));
      } catch (const DeviceError&) {
        ++failed;
      }
      try {
        void* const block = device.Allocate(MemoryKind::kDevice, kBytes, device.properties().main_stream);
        device.Deallocate(MemoryKind::kDevice, block, kBytes, device.properties().main_stream);
      } catch (const OutOfMemory&) {
        ++failed;
      }
    }
    CHECK(failed == 1);
    CHECK(sim::Inspect().leaks.empty());
  }
}

TEST_CASE("only calls of the named kind count") {
  SimWorld world({.fail_at = 2, .fail_call = "MemsetAsync"});
  auto* const block = world.NewDevice(world.main);
  CHECK_NOTHROW(world.device.Fill(block, {}, kBytes, world.main.handle()));
  CHECK_NOTHROW(world.main.Synchronize());
  CHECK_THROWS_AS(world.device.Fill(block, {}, kBytes, world.main.handle()), DeviceError);
  CHECK(sim::Inspect().calls == 2);
}

/// A program that makes each call of kCalls that this machine has; what it meets does not stop it.
void CallEverything() {
  const auto attempt = [](auto call) {
    try {
      call();
    } catch (const std::exception&) {
    }
  };
  attempt([&] {
    SimDevice device{0}, second{1};
    const Stream main = Stream::Main(device);
    attempt([&] { (void)Stream(second); });
    for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
      attempt([&] {
        device.Deallocate(kind, device.Allocate(kind, kBytes, main.handle()), kBytes, main.handle());
      });
    attempt([&] {
      void* const block = device.Allocate(MemoryKind::kDevice, kBytes, main.handle());
      attempt([&] { device.Fill(block, {}, kBytes, main.handle()); });
      char host[kBytes] = {};
      attempt([&] { device.Copy(CopyKind::kHostToDevice, block, host, kBytes, main.handle()); });
      attempt([&] {
        void* const far = second.Allocate(MemoryKind::kDevice, kBytes, main.handle());
        attempt([&] { device.Copy(CopyKind::kDeviceToDevice, block, far, kBytes, main.handle()); });
        second.Deallocate(MemoryKind::kDevice, far, kBytes, main.handle());
      });
      device.Deallocate(MemoryKind::kDevice, block, kBytes, main.handle());
    });
    attempt([&] {
      const Event point(main);
      attempt([&] { point.StreamWait(main); });
      attempt([&] { point.HostWait(); });
      (void)device.Reached(point.handle());
    });
    attempt([&] {
      const Event point = Event::Measuring(main);
      (void)Elapsed(point, point);
    });
    attempt([&] { main.Synchronize(); });
    attempt([&] { device.Trim(); });
    attempt([&] { sim::Launch(main, {}, [] {}); });
    attempt([&] { device.DestroyStream(sim::CreateBlockingStream(device)); });
    attempt([&] {
      const Stream captured(device);
      attempt([&] { sim::BeginCapture(captured); });
      attempt([&] { sim::EndCapture(captured); });
    });
    (void)SimRuntime::StreamQuery(reinterpret_cast<SimRuntime::Stream>(main.handle()));
    (void)SimRuntime::DeviceSynchronize();
    (void)SimRuntime::GetLastError();
  });
}

TEST_CASE("a fault can strike each call that there is a name for") {
  for (const std::string_view name : sim::kCalls) {
    sim::Reset(
        {.devices = 2, .memory_pools = name != "Malloc", .fail_at = 1, .fail_call = std::string(name)});
    CallEverything();
    INFO(name);
    CHECK(sim::Inspect().faults == 1);
  }
}

TEST_CASE("the n-th call of any kind can fail, whatever it is") {
  const long all = [] {
    sim::Reset({.devices = 2, .fail_call = "any"});
    CallEverything();
    return sim::Inspect().calls;
  }();
  CHECK(all > 50);
  for (long n = 1; n <= all; ++n) {
    sim::Reset({.devices = 2, .fail_at = n, .fail_call = "any"});
    CallEverything();
    CHECK(sim::Inspect().faults == 1);
  }
}

TEST_CASE("the n-th allocation can fail, of whatever kind") {
  for (long n = 1; n <= 3; ++n) {
    SimWorld world({.fail_at = n, .fail_call = "allocation"});
    long made = 0;
    for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) try {
        world.device.Allocate(kind, kBytes, world.main.handle());
        ++made;
      } catch (const OutOfMemory&) {
        CHECK(made == n - 1);
      }
    CHECK(made == 2);
    CHECK(sim::Inspect().calls == 3);
  }
}

TEST_CASE("a fault in a call that there is not is refused, and the machine stays") {
  SimWorld world({.fail_at = 1, .fail_call = "Launch"});
  try {
    sim::Reset({.fail_at = 1, .fail_call = "MemcpyAsyn"});
    FAIL("there is no such call");
  } catch (const std::invalid_argument& error) {
    CHECK(Contains(error.what(), "fail_call 'MemcpyAsyn' is no call"));
    CHECK(Contains(error.what(), " MemcpyAsync"));
  }
  CHECK_THROWS_AS(sim::Launch(world.main, {}, [] {}), DeviceError);
}

TEST_CASE("a report says whether the fault came") {
  for (const bool late : {false, true}) {
    SimWorld world({.fail_at = 2, .fail_call = "MemsetAsync", .fail_late = late});
    auto* const block = world.NewDevice(world.main);
    world.device.Fill(block, {}, kBytes, world.main.handle());
    CHECK(sim::Inspect().faults == 0);
    CHECK_THROWS_AS(world.device.Fill(block, {}, kBytes, world.main.handle()), DeviceError);
    CHECK(sim::Inspect().faults == 1);
    world.device.Fill(block, {}, kBytes, world.main.handle());
    CHECK(sim::Inspect().faults == 1);
  }
}

TEST_CASE("a fault of an allocation is out of memory") {
  for (const auto& [call, kind] :
       {std::pair{"MallocAsync", MemoryKind::kDevice}, std::pair{"MallocHost", MemoryKind::kPinnedHost},
        std::pair{"MallocManaged", MemoryKind::kManaged}}) {
    SimWorld world({.fail_at = 1, .fail_call = call});
    CHECK_THROWS_AS(world.device.Allocate(kind, kBytes, world.main.handle()), OutOfMemory);
    CHECK(world.device.Allocate(kind, kBytes, world.main.handle()) != nullptr);
  }
}

TEST_CASE("a driver that is gone fails every call from then on") {
  sim::Reset({.fail_at = 4, .fail_forever = true});
  {
    SimDevice device{0};
    const Stream stream(device);
    const Event point(stream);
    CHECK_THROWS_AS(point.HostWait(), DeviceError);
    CHECK_THROWS_AS(device.Allocate(MemoryKind::kDevice, kBytes, stream.handle()), std::exception);
    CHECK_THROWS_AS(SimDevice{0}, DeviceError);
    CHECK_THROWS_AS(sim::Launch(stream, {}, [] {}), DeviceError);
  }
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  sim::Reset();
  CHECK_NOTHROW(SimDevice{0});
}

TEST_CASE("a kernel that throws fails its device for good, and the next call says so") {
  auto made = std::make_unique<SimWorld>(sim::Options{.devices = 2});
  SimWorld& world = *made;
  SimDevice second{1};
  auto* const block = world.NewDevice(world.main);
  bool later = false;
  sim::Launch(world.side, {}, [] { throw std::runtime_error("divided by zero"); });
  sim::Launch(world.side, {}, [&] { later = true; });
  CHECK_NOTHROW(world.device.Fill(block, {}, kBytes, world.main.handle()));  // it has not run yet
  try {
    world.side.Synchronize();
    FAIL("the kernel failed");
  } catch (const DeviceError& error) {
    CHECK(error.call() == "sim StreamSynchronize");
    CHECK(error.code() == SimRuntime::kLaunchFailed);
  }
  CHECK_FALSE(later);
  CHECK_THROWS_AS(world.device.Fill(block, {}, kBytes, world.main.handle()), DeviceError);
  CHECK_THROWS_AS(sim::Launch(world.main, {}, [] {}), DeviceError);
  CHECK_THROWS_AS(Event(world.main), DeviceError);
  CHECK_NOTHROW(Stream::Main(second).Synchronize());
  CHECK(sim::Inspect().kernel_errors.size() == 1);
  CHECK(Contains(sim::Inspect().kernel_errors.front(), "): divided by zero"));

  made.reset();
  sim::Reset();
  SimDevice next{0};
  CHECK_NOTHROW(Stream::Main(next).Synchronize());
}

TEST_CASE("what a failed device is given back is no leak") {
  {
    SimWorld world;
    auto* const block = world.NewDevice(world.main);
    auto* const host = world.NewPinned();
    const Event point(world.side);
    sim::Launch(world.side, {}, [] { throw 1; });
    sim::Drain();
    CHECK(Contains(sim::Inspect().kernel_errors.front(), "not a std::exception"));
    world.Free(MemoryKind::kDevice, block, world.main);
    world.Free(MemoryKind::kPinnedHost, host, world.main);
  }
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("copies and host waits are counted") {
  SimWorld world;
  auto* const block = world.NewDevice(world.main);
  auto* const host = world.NewPinned();
  world.device.Copy(CopyKind::kHostToDevice, block, host, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToHost, host, block, kBytes, world.main.handle());
  CHECK(sim::Inspect().copies == 2);
  CHECK(sim::Inspect().host_waits == 0);
  world.main.Synchronize();
  Event(world.main).HostWait();
  CHECK(sim::Inspect().host_waits == 2);
}

}  // namespace
}  // namespace ferry::testing
