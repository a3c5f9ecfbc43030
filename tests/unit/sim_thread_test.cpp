// SPDX-License-Identifier: BSD-2-Clause
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "ferry/error.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a kernel may wait for another thread's calls of the runtime") {
  SimWorld world;
  std::atomic<bool> started = false, passed = false;
  sim::Launch(world.side, {}, [&] {
    started = true;
    for (int i = 0; i < 5000 && !passed; ++i) std::this_thread::sleep_for(1ms);
  });
  std::thread waiting([&] { world.side.Synchronize(); });
  while (!started) std::this_thread::yield();
  auto* const block = world.NewDevice(world.main);
  world.device.Fill(block, {}, kBytes, world.side.handle());
  Event(world.main).StreamWait(world.side);
  sim::Launch(world.side, {block}, [] {});
  CHECK_FALSE(passed);
  passed = true;
  waiting.join();
  sim::Drain();
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("one kernel runs at a time, whoever waits") {
  SimWorld world;
  std::atomic<int> inside = 0, most = 0, ran = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Stream own(world.device);
        auto* const block = world.NewDevice(own);
        sim::Launch(own, {block}, [&, block] {
          if (++inside > 1) most = 2;
          block[0] = std::byte{1};
          ++ran;
          --inside;
        });
        world.Free(MemoryKind::kDevice, block, own);
        if (i % 2 == 0) own.Synchronize();
      }
    });
  for (auto& thread : threads) thread.join();
  sim::Drain();
  CHECK(ran == 200);
  CHECK(most == 0);
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.size() == 1);
}

TEST_CASE("a kernel that calls the runtime is refused and reported") {
  SimWorld world;
  std::string said;
  sim::Launch(world.side, {}, [&] {
    try {
      world.main.Synchronize();
    } catch (const DeviceError& error) {
      said = error.what();
    }
    sim::Drain();
  });
  world.side.Synchronize();
  CHECK(Contains(said, "kNotPermitted"));
  CHECK(sim::Inspect().misuse.front() == "GetDevice (after call 2): called by a kernel");
  CHECK(sim::Inspect().misuse.back() == "Drain (after call 2): called by a kernel");
}

TEST_CASE("a kernel may hold what calls the runtime when it goes") {
  for (const bool runs : {true, false}) {
    sim::Reset();
    SimDevice device{0};
    const Stream main = Stream::Main(device);
    const auto destroy = [&](const StreamHandle* on) { device.DestroyStream(*on); };
    const StreamHandle made = device.CreateStream();
    auto held = std::shared_ptr<const StreamHandle>(&made, destroy);
    sim::Launch(main, {}, [held] {});
    CHECK_THROWS_AS(sim::Launch(Stream::Borrow(device, StreamHandle{4}), {}, [held] {}), DeviceError);
    held.reset();
    CHECK(sim::Inspect().leaks.size() == 1);
    runs ? sim::Drain() : sim::Reset();
    CHECK(sim::Inspect().leaks.empty());
  }
}

TEST_CASE("each thread has a current device of its own") {
  sim::Reset({.devices = 2});
  REQUIRE(sim::SimRuntime::SetDevice(1) == sim::SimRuntime::kSuccess);
  int other = -1, mine = -1;
  std::thread([&] { (void)sim::SimRuntime::GetDevice(&other); }).join();
  (void)sim::SimRuntime::GetDevice(&mine);
  CHECK(other == 0);
  CHECK(mine == 1);
  sim::Reset();
}

}  // namespace
}  // namespace ferry::testing
