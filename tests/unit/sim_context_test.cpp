// SPDX-License-Identifier: BSD-2-Clause
// What a GPU that is not used must not notice, and what runtimes do that their manuals do not dwell on.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/synced_memory.hpp"
#include "ferry/transfer_guard.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

bool IsStream(const std::string& leak) { return leak.ends_with(": a stream"); }

TEST_CASE("a program that uses the second GPU alone makes one context, in each of its threads") {
  sim::Reset({.devices = 2});
  {
    SimDevice device{1};
    SyncedMemory memory(kBytes, device);
    memory.mutable_cpu_data();
    memory.mutable_gpu_data();
    memory.cpu_data();
    const Stream stream(device);
    const Event point(stream);
    std::thread([&] { point.HostWait(); }).join();
    std::thread([&] { memory.mutable_gpu_data(stream); }).join();
    std::thread([&] { const Stream brief = stream; }).join();
  }
  CHECK(sim::Inspect().contexts == 1);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a copy of given bytes that is refused makes no context") {
  sim::Reset({.devices = 2});
  {
    SimDevice device{1};
    std::vector<std::byte> given(kBytes);
    SyncedMemory memory(kBytes, device);
    memory.set_cpu_data(given.data());
    const TransferGuard guard(TransferPolicy::kThrow);
    CHECK_THROWS_AS(memory.gpu_data(), TransferRefused);
    CHECK(sim::Inspect().contexts == 0);
  }
}

TEST_CASE("memory is not called pageable where the runtime does not say so") {
  const SimWorld world({.fail_at = 2, .fail_call = "PointerGetAttributes"});
  const std::byte pageable{};
  CHECK(world.device.Pageable(&pageable));
  CHECK_FALSE(world.device.Pageable(&pageable));
  CHECK(world.device.Pageable(&pageable));
}

TEST_CASE("a GPU that the program itself uses is current again after each call") {
  sim::Reset({.devices = 2});
  REQUIRE(SimRuntime::SetDevice(0) == SimRuntime::kSuccess);
  const SimDevice device{1};
  int current = -1;
  REQUIRE(SimRuntime::GetDevice(&current) == SimRuntime::kSuccess);
  CHECK(current == 0);
}

TEST_CASE("pinned and managed memory that is refused as a wrong value is out of memory") {
  SimWorld world({.memory = 1024, .pinned_memory = 1024, .refuses_as_invalid = true});
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
    CHECK_THROWS_AS(world.device.Allocate(kind, 2048, world.main.handle()), OutOfMemory);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("a stream is destroyed after the last point in it, for hosts that wait by way of the stream") {
  sim::Reset({.events_need_stream = true});
  {
    SimDevice device{0};
    std::unique_ptr<Event> point;
    {
      const Stream brief(device);
      point = std::make_unique<Event>(brief);
      const Event other(brief);
    }
    point->HostWait();
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.size() == 3);  // two events, one of them to be used again, and the stream
    point.reset();
    CHECK(sim::Inspect().leaks.size() == 2);
  }
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("a point in a stream that was borrowed holds no stream, though the handle comes again as our own") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    sim::Reset({.seed = seed});
    {
      SimDevice device{0};
      SimRuntime::Stream native{};
      REQUIRE(SimRuntime::StreamCreate(&native) == SimRuntime::kSuccess);
      const StreamHandle handle{reinterpret_cast<std::uintptr_t>(native)};
      auto point = std::make_unique<Event>(Stream::Borrow(device, handle));
      REQUIRE(SimRuntime::StreamDestroy(native) == SimRuntime::kSuccess);
      const Stream own(device);
      point.reset();
      const Event other(own);
    }
    CHECK(sim::Inspect().leaks.empty());
    CHECK(sim::Inspect().misuse.empty());
  }
}

TEST_CASE("a point in a borrowed stream may outlive it, whoever waits, and whatever for") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    SimDevice device(0);
    const StreamHandle handle = sim::CreateBlockingStream(device);
    const Stream lent = Stream::Borrow(device, handle), own(device);
    int ran = 0;
    sim::Launch(lent, {}, [&] { ++ran; });
    const Event first = Event::Measuring(lent);
    void* const block = device.Allocate(MemoryKind::kDevice, kBytes, handle);
    const auto copied =
        Event::OfCopy(CopyKind::kDeviceToDevice, block, static_cast<std::byte*>(block) + 32, 32, lent);
    REQUIRE(copied);
    sim::Launch(lent, {}, [&] { ++ran; });
    const Event last = Event::Measuring(lent);
    device.DestroyStream(handle);
    CHECK_FALSE(device.Reached(last.handle()));
    copied->HostWait();
    CHECK(ran == 1);  // and not what was queued behind the copy
    last.StreamWait(own);
    own.Synchronize();
    CHECK(ran == 2);
    CHECK(device.Reached(first.handle()));
    CHECK(Elapsed(first, last) >= 0);
    device.Deallocate(MemoryKind::kDevice, block, kBytes, own.handle());
  }
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("one stream follows a borrowed one, however many points there are, and each thread's own another") {
  sim::Reset({.events_need_stream = true});
  {
    SimDevice device(0);
    const StreamHandle handle = sim::CreateBlockingStream(device);
    const Stream lent = Stream::Borrow(device, handle),
                 of_thread = Stream::Borrow(device, sim::kPerThreadStream);
    const auto points = [&] {
      for (int i = 0; i < 10; ++i) Event(lent).HostWait(), Event(of_thread).HostWait();
    };
    points();
    std::thread(points).join();
    const auto leaks = sim::Inspect().leaks;
    CHECK(std::count_if(leaks.begin(), leaks.end(), IsStream) == 4);  // the borrowed one, and three of ours
    device.DestroyStream(handle);
  }
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("only points that are kept, and only in borrowed streams, cost two more calls") {
  const auto calls_of = [](bool events_need_stream) {
    sim::Reset({.events_need_stream = events_need_stream});
    SimDevice device(0);
    const StreamHandle handle = sim::CreateBlockingStream(device), main = device.properties().main_stream;
    const Stream lent = Stream::Borrow(device, handle), own(device);
    std::vector<long> calls;
    const auto count = [&](auto&& act) {
      act();  // makes what is used again
      const long before = sim::Inspect().runtime_calls;
      act();
      calls.push_back(sim::Inspect().runtime_calls - before);
    };
    count([&] { Event{lent}; });
    count([&] { device.Order({&handle, 1}, own.handle()); });
    count([&] { device.Order({&handle, 1}, main); });
    count([&] { Event{own}; });
    count([&] { Event{Stream::Main(device)}; });
    device.DestroyStream(handle);
    return calls;
  };
  auto expected = calls_of(false);
  expected.front() += 2;
  CHECK(calls_of(true) == expected);
}

TEST_CASE("streams of ours are as many as borrowed ones have points that are kept, or 64") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    SimDevice device(0);
    std::vector<StreamHandle> lent(170);
    for (StreamHandle& handle : lent) handle = sim::CreateBlockingStream(device);
    std::vector<Event> kept;
    std::size_t ran = 0;
    const auto streams_of_ours = [&] {
      const auto leaks = sim::Inspect().leaks;
      return std::count_if(leaks.begin(), leaks.end(), IsStream) - static_cast<long>(lent.size());
    };
    for (const StreamHandle handle : lent) {
      const Stream stream = Stream::Borrow(device, handle);
      sim::Launch(stream, {}, [&] { ++ran; });
      Event point(stream);
      if (kept.size() < 70)
        kept.push_back(std::move(point));
      else
        point.HostWait();
    }
    CHECK(streams_of_ours() == 71);
    for (const StreamHandle handle : lent) device.DestroyStream(handle);
    for (const Event& point : kept) point.HostWait();
    CHECK(ran == lent.size());
  }
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a point that cannot outlive its borrowed stream is an error, and the next one is good") {
  struct Failing {
    const char* call;
    long of_one, of_three;  ///< calls that points make, if none fails
  };
  for (const Failing& failing :
       {Failing{"StreamCreate", 1, 1}, Failing{"StreamWaitEvent", 1, 3}, Failing{"EventRecord", 2, 6}})
    for (const int points : {1, 3})
      for (const long at : {1L, 2L})
        for (const bool late : {false, true}) {
          INFO(failing.call << ' ' << points << ' ' << at << ' ' << late);
          sim::Reset(
              {.events_need_stream = true, .fail_at = at, .fail_call = failing.call, .fail_late = late});
          {
            SimDevice device(0);
            const StreamHandle handle = sim::CreateBlockingStream(device);
            const Stream lent = Stream::Borrow(device, handle);
            int failed = 0;
            for (int i = 0; i < points; ++i) try {
                Event(lent).HostWait();
              } catch (const DeviceError&) {
                ++failed;
              }
            CHECK(failed == (at <= (points == 1 ? failing.of_one : failing.of_three) ? 1 : 0));
            device.DestroyStream(handle);
          }
          CHECK(sim::Inspect().leaks.empty());
          CHECK(sim::Inspect().misuse.empty());
        }
}

TEST_CASE("a pool takes a block that was given back on a borrowed stream, which is gone") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    PooledDevice device(std::make_unique<SimDevice>(0));
    const StreamHandle handle = sim::CreateBlockingStream(device), main = device.properties().main_stream;
    void* const block = device.Allocate(MemoryKind::kDevice, kBytes, handle);
    bool ran = false;
    sim::Launch(Stream::Borrow(device, handle), {block}, [&] { ran = true; });
    device.Deallocate(MemoryKind::kDevice, block, kBytes, handle);
    device.DestroyStream(handle);
    CHECK(device.Allocate(MemoryKind::kDevice, kBytes, main) == block);
    device.Synchronize(main);
    CHECK(ran);
    device.Deallocate(MemoryKind::kDevice, block, kBytes, main);
  }
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("what follows a borrowed stream is no leak of a device that stays, and goes with its machine") {
  Device& device = GetDevice("sim:0");
  for (int machine = 0; machine < 3; ++machine) {
    sim::Reset({.events_need_stream = true});
    const StreamHandle handle = sim::CreateBlockingStream(device);
    for (const StreamHandle lent : {handle, sim::kPerThreadStream})
      Event(Stream::Borrow(device, lent)).HostWait();
    REQUIRE(SimRuntime::StreamDestroy(reinterpret_cast<SimRuntime::Stream>(handle)) == SimRuntime::kSuccess);
    CHECK(sim::Inspect().leaks == std::vector<std::string>{});
  }
}

TEST_CASE("events are used again") {
  SimWorld world;
  for (int i = 0; i < 10; ++i) const Event point(world.side);
  const long before = sim::Inspect().runtime_calls;
  { const Event point(world.side); }
  CHECK(sim::Inspect().runtime_calls - before == 3);  // GetDevice, StreamIsCapturing, EventRecord
}

}  // namespace
}  // namespace ferry::testing
