// SPDX-License-Identifier: BSD-2-Clause
// Points in streams that somebody else destroys, where events need their stream.
#include <algorithm>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/pooled_device.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using sim::SimRuntime;

bool IsStream(const std::string& leak) { return leak.ends_with(": a stream"); }

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
              } catch (const DeviceError& error) {
                ++failed;
                CHECK_THAT(error.what(), ContainsSubstring(failing.call));
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

TEST_CASE("a point does not wait for another borrowed stream's work, however many there are") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  SimDevice device(0);
  std::vector<StreamHandle> lent(65);
  for (StreamHandle& handle : lent) handle = sim::CreateBlockingStream(device);
  for (const StreamHandle handle : lent) {
    const bool last = handle == lent.back();
    if (!last) sim::Launch(Stream::Borrow(device, handle), {}, [] {});
    const Event point(Stream::Borrow(device, handle));
    CHECK(device.Reached(point.handle()) == last);
  }
  for (const StreamHandle handle : lent) device.DestroyStream(handle);
}

TEST_CASE("one of 64 streams of ours is taken over, and follows its new one alone") {
  sim::Reset({.events_need_stream = true});
  {
    SimDevice device(0);
    std::vector<StreamHandle> lent(100);
    for (StreamHandle& handle : lent) handle = sim::CreateBlockingStream(device);
    for (int i = 0; i < 2; ++i)
      for (const StreamHandle handle : lent) Event(Stream::Borrow(device, handle)).HostWait();
    for (int i = 0; i < 2; ++i) Event(Stream::Borrow(device, lent.back())).HostWait();
    const auto leaks = sim::Inspect().leaks;
    CHECK(std::count_if(leaks.begin(), leaks.end(), IsStream) == 164);
    for (const StreamHandle handle : lent) device.DestroyStream(handle);
  }
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("streams of ours are made and taken over beside a capture, and leave no error") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    SimDevice device(0);
    const Stream captured(device);
    std::vector<StreamHandle> lent(70);
    for (StreamHandle& handle : lent) handle = sim::CreateBlockingStream(device);
    sim::BeginCapture(captured);
    for (const StreamHandle handle : lent) {
      sim::Launch(Stream::Borrow(device, handle), {}, [] {});
      const Event point(Stream::Borrow(device, handle));
      CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
    }
    CHECK_NOTHROW(sim::EndCapture(captured));
    for (const StreamHandle handle : lent) device.DestroyStream(handle);
  }
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("a stream of ours counts its points, whatever events they had before") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  {
    SimDevice device(0);
    std::optional<Stream> own(std::in_place, device);
    const StreamHandle handle = own->handle();
    { const Event one(*own), two(*own); }
    const Event kept(*own);
    device.Order({&handle, 1}, device.properties().main_stream);  // with the event of the other one
    own.reset();
    kept.HostWait();
  }
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("an event of a stream that was destroyed is misuse for who waits for it, and for who asks") {
  sim::Reset({.events_need_stream = true});
  SimDevice device(0);
  const Stream own(device);
  const StreamHandle handle = sim::CreateBlockingStream(device);
  SimRuntime::Event event{};
  REQUIRE(SimRuntime::EventCreate(&event) == SimRuntime::kSuccess);
  REQUIRE(SimRuntime::EventRecord(event, reinterpret_cast<SimRuntime::Stream>(handle)) ==
          SimRuntime::kSuccess);
  device.DestroyStream(handle);
  CHECK(SimRuntime::EventSynchronize(event) == SimRuntime::kInvalidHandle);
  CHECK(SimRuntime::EventQuery(event) == SimRuntime::kInvalidHandle);
  CHECK(SimRuntime::StreamWaitEvent(Native(own), event) == SimRuntime::kInvalidHandle);
  CHECK(sim::Inspect().misuse.size() == 3);
  CHECK(SimRuntime::EventDestroy(event) == SimRuntime::kSuccess);
}

std::function<void()> after_wait;
struct Hooked : SimRuntime {
  static Error StreamWaitEvent(Stream on, Event event) {
    const Error error = SimRuntime::StreamWaitEvent(on, event);
    if (after_wait) std::exchange(after_wait, nullptr)();
    return error;
  }
};

TEST_CASE("a point comes before what another thread queues after it, and that thread's point") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  gpu::GpuDevice<Hooked> device(0);
  const StreamHandle handle = sim::CreateBlockingStream(device);
  const Stream lent = Stream::Borrow(device, handle);
  std::thread other;
  std::optional<Event> theirs;
  after_wait = [&] {
    other = std::thread([&] {
      sim::Launch(lent, {}, [] {});
      theirs.emplace(lent);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // in which it would be done, without a lock
  };
  {
    const Event ours(lent);
    other.join();
    CHECK(device.Reached(ours.handle()));
  }
  theirs.reset();
  device.DestroyStream(handle);
}

}  // namespace
}  // namespace ferry::testing
