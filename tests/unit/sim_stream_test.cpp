// SPDX-License-Identifier: BSD-2-Clause
// Streams that come and go, and the kinds of them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "backends/sim/machine.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"
#include "tests/sanitized.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

TEST_CASE("the handle of a destroyed stream comes again at once, or not, as the seed says") {
  int again = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SimWorld world({.seed = seed});
    StreamHandle old{};
    {
      const Stream brief(world.device);
      old = brief.handle();
    }
    again += Stream(world.device).handle() == old;
  }
  CHECK(again > 4);
  CHECK(again < 28);
}

TEST_CASE("the handle of a destroyed event comes again at once, or not, as the seed says") {
  int again = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SimWorld world({.seed = seed});
    SimRuntime::Event old{}, next{};
    REQUIRE(SimRuntime::EventCreate(&old) == SimRuntime::kSuccess);
    REQUIRE(SimRuntime::EventDestroy(old) == SimRuntime::kSuccess);
    REQUIRE(SimRuntime::EventCreate(&next) == SimRuntime::kSuccess);
    again += next == old;
    REQUIRE(SimRuntime::EventDestroy(next) == SimRuntime::kSuccess);
    CHECK(SimRuntime::EventSynchronize(old) == SimRuntime::kInvalidHandle);
    (void)SimRuntime::GetLastError();
    CHECK(Contains(OnlyMisuse(), "EventSynchronize"));
    CHECK(Contains(OnlyMisuse(), "an event that was destroyed"));
  }
  CHECK(again > 4);
  CHECK(again < 28);
}

/// Streams that each touch the memory and go, `many` times; nothing ever waits.
void TouchAndGo(SyncedMemory& memory, int many) {
  for (int i = 0; i < many; ++i) {
    const Stream brief(memory.device());
    memory.gpu_data(brief);
  }
}

std::size_t QueueCount() {
  const sim::Lock lock(sim::Machine::The().mutex);
  return sim::Machine::The().queue_count();
}

TEST_CASE("streams that come and go leave nothing behind in the simulator, whether anybody waits or not") {
  sim::Reset();
  const auto device = MakeDevice("sim");
  SyncedMemory memory(kBytes, *device);
  memory.mutable_cpu_data();
  TouchAndGo(memory, kSanitized ? 20'000 : 200'000);
  CHECK(QueueCount() < 200);
  memory.mutable_gpu_data();
  memory.cpu_data();
  sim::Drain();
  memory.mutable_gpu_data();
  CHECK(QueueCount() < 100);
}

TEST_CASE("kernels of streams that come and go are run, though nobody waits and a memory has notes of them") {
  sim::Reset({.order = sim::Order::kLate, .page_protection = false});
  const auto device = MakeDevice("sim");
  SyncedMemory memory(kBytes, *device);
  memory.mutable_cpu_data();
  constexpr int kMany = 5000;
  int ran = 0;
  for (int i = 0; i < kMany; ++i) {
    const Stream brief(*device);
    const void* const ptr = memory.gpu_data(brief);
    sim::Launch(brief, {ptr}, [&] { ++ran; });
  }
  CHECK(ran >= kMany - 200);
  CHECK(QueueCount() < 200);
  CHECK(sim::Inspect().leaks.size() < 600);
}

TEST_CASE("where a stream is made, no kernel of another one that lives is waited for") {
  enum class Kernel { kQueued, kOfAnotherThread };
  for (const Kernel where : {Kernel::kQueued, Kernel::kOfAnotherThread}) {
    sim::Reset({.order = sim::Order::kLate});
    const auto device = MakeDevice("sim");
    SyncedMemory memory(kBytes, *device);
    const Stream live(*device);
    std::atomic<bool> runs = false, go = false, timed_out = false;
    int ran = 0;
    void* const ptr = memory.overwrite_gpu_data(live);
    sim::Launch(live, {ptr}, [&] {
      runs = true;
      for (int i = 0; i < 5000 && !go; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      timed_out = !go;
    });
    const auto make_many = [&] {
      for (int i = 0; i < 300; ++i) {
        const Stream brief(*device);
        const void* const read = memory.gpu_data(brief);
        sim::Launch(brief, {read}, [] {});
      }
    };
    make_many();
    if (where == Kernel::kQueued) {
      for (int i = 0; i < 1000; ++i) sim::Launch(Stream(*device), {}, [&] { ++ran; });
      CHECK(ran > 500);
    } else {
      std::thread waits([&] { live.Synchronize(); });
      while (!runs) std::this_thread::yield();
      make_many();
      go = true;
      waits.join();
    }
    go = true;
    sim::Drain();
    CHECK(!timed_out);
    make_many();
    CHECK(QueueCount() < 200);
  }
}

TEST_CASE("streams that have gone make no access slower") {
  sim::Reset();
  const auto device = MakeDevice("sim");
  SyncedMemory memory(kBytes, *device);
  memory.mutable_cpu_data();
  const auto pairs = [&] {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i) {
      memory.mutable_cpu_data();
      memory.gpu_data();
    }
    return std::chrono::steady_clock::now() - begin;
  };
  const auto before = std::max({pairs(), pairs(), pairs()});
  auto after = before * 1000;
  for (int attempt = 0; attempt < 10 && after > 2 * before; ++attempt) {
    TouchAndGo(memory, 2000);
    after = pairs();
  }
  CHECK(after <= 2 * before);
}

TEST_CASE("the main streams of all devices have one handle, which is never 0, and are streams of their own") {
  SimWorld world({.devices = 2});
  SimDevice second{1};
  const Stream other = Stream::Main(second);
  CHECK(other.handle() == world.main.handle());
  CHECK(other.handle() != StreamHandle{});
  CHECK(other != world.main);
  std::string ran;
  sim::Launch(world.main, {}, [&] { ran += '1'; });
  sim::Launch(other, {}, [&] { ran += '2'; });
  other.Synchronize();
  CHECK(ran.ends_with('2'));
  sim::Drain();
  CHECK(ran.size() == 2);
}

TEST_CASE("a main stream waits for an event of another device, though the streams have one handle") {
  int early = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SimWorld world({.seed = seed, .order = sim::Order::kLate, .devices = 2});
    SimDevice second{1};
    const Stream other = Stream::Main(second);
    bool ran = false, before = false;
    sim::Launch(world.main, {}, [&] { ran = true; });
    Event(world.main).StreamWait(other);
    sim::Launch(other, {}, [&] { before = ran; });
    other.Synchronize();
    early += !before;
    sim::Drain();
  }
  CHECK(early == 0);
}

TEST_CASE("each thread has a default stream of its own on each device, by one handle") {
  SimWorld world({.devices = 2});
  const Stream mine = Stream::Borrow(world.device, sim::kPerThreadStream);
  std::string ran;
  sim::Launch(mine, {}, [&] { ran += 'a'; });
  std::thread([&] {
    sim::Launch(mine, {}, [&] { ran += 'b'; });
    mine.Synchronize();
    ran += '.';
  }).join();
  CHECK(ran.find('b') < ran.find('.'));
  mine.Synchronize();
  CHECK(ran.find('a') != std::string::npos);
  world.device.DestroyStream(sim::kPerThreadStream);
  CHECK(Contains(OnlyMisuse(), "a default stream"));
  SimDevice second{1};
  Stream::Borrow(second, sim::kPerThreadStream).Synchronize();
  CHECK(sim::Inspect().misuse.size() == 1);
}

TEST_CASE("what one thread's default stream has written another's reads, by the same handle") {
  SimWorld world({.order = sim::Order::kLate});
  const Stream own = Stream::Borrow(world.device, sim::kPerThreadStream);
  int seen = -1;
  {
    SyncedMemory memory(kBytes, world.device);
    std::thread([&] {
      void* const ptr = memory.overwrite_gpu_data(own);
      sim::Launch(own, {ptr}, [=] { std::memset(ptr, 7, kBytes); });
    }).join();
    const void* const ptr = memory.gpu_data(own);
    sim::Launch(own, {ptr}, [=, &seen] { seen = *static_cast<const unsigned char*>(ptr); });
    own.Synchronize();
  }
  CHECK(seen == 7);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a blocking stream and the main stream wait for each other, and a race is none between them") {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SimWorld world({.seed = seed});
    auto* const block = world.NewDevice(world.main);
    const StreamHandle handle = sim::CreateBlockingStream(world.device);
    const Stream blocking = Stream::Borrow(world.device, handle);
    std::string order;
    const auto launch = [&](const Stream& on, char what) {
      sim::Launch(on, {block}, [&order, what] { order += what; });
    };
    launch(world.main, '1');
    launch(blocking, '2');
    launch(world.main, '3');
    launch(blocking, '4');
    Event(world.main).HostWait();  // which comes after all blocking work
    CHECK(order == "1234");
    launch(blocking, '5');
    world.device.DestroyStream(handle);
    launch(world.main, '6');
    world.main.Synchronize();
    CHECK(order == "123456");
    CHECK(sim::Inspect().misuse.empty());
  }
}

TEST_CASE(
    "a blocking stream that nobody gave back is a leak, and one that nothing orders with others races") {
  SimWorld world;
  auto* const block = world.NewDevice(world.main);
  const Stream blocking = Stream::Borrow(world.device, sim::CreateBlockingStream(world.device));
  sim::Launch(blocking, {block}, [] {});
  sim::Launch(world.side, {block}, [] {});
  CHECK(Contains(OnlyMisuse(), "a race with Launch"));
  CHECK(Contains(sim::Inspect().leaks.back(), "CreateBlockingStream"));
  sim::Drain();
}

}  // namespace
}  // namespace ferry::testing
