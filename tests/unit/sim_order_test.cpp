// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>

#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("queued work of a late machine runs only when something waits for it, and seed 0 is late") {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    SimWorld world({.seed = seed, .order = seed == 0 ? sim::Order::kDrawn : sim::Order::kLate});
    bool ran = false;
    sim::Launch(world.side, {}, [&] { ran = true; });
    sim::Launch(world.main, {}, [] {});
    CHECK_FALSE(ran);
    world.side.Synchronize();
    CHECK(ran);
  }
}

TEST_CASE("work runs early on request, or where the seed says so") {
  int early = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed)
    for (const auto order : {sim::Order::kDrawn, sim::Order::kEarly}) {
      SimWorld world({.seed = seed, .order = order});
      bool ran = false;
      sim::Launch(world.side, {}, [&] { ran = true; });
      if (order == sim::Order::kEarly)
        CHECK(ran);
      else
        early += ran;
      sim::Drain();
    }
  CHECK(early > 8);
  CHECK(early < 40);
}

TEST_CASE("a host write after a copy or a launch that nobody waited for is seen for some seed") {
  for (const bool kernel : {false, true}) {
    std::set<std::byte> read;
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
      SimWorld world({.seed = seed});
      auto* const host = world.NewPinned();
      auto* const dst = world.NewDevice(world.main);
      std::memset(host, 1, kBytes);
      if (kernel)
        sim::Launch(world.main, {host, dst}, [=] { *dst = *host; });
      else
        world.device.Copy(CopyKind::kHostToDevice, dst, host, kBytes, world.main.handle());
      std::memset(host, 2, kBytes);
      std::byte seen{};
      sim::Launch(world.main, {dst}, [&] { seen = *dst; });
      sim::Drain();
      read.insert(seen);
    }
    CHECK(read == std::set{std::byte{1}, std::byte{2}});
  }
}

TEST_CASE("kernels run early in launches, and in no call that Ferry makes under a lock") {
  for (std::uint64_t seed = 0; seed < 1024; ++seed) {
    SimWorld world({.seed = seed});
    auto* const block = world.NewDevice(world.main);
    bool ran = false;
    sim::Launch(world.side, {}, [&] { ran = true; });
    const bool at_once = ran;
    for (int i = 0; i < 10; ++i) world.device.Fill(block, {}, kBytes, world.main.handle());
    CHECK(ran == at_once);
    sim::Drain();
  }
}

TEST_CASE("a flag that a kernel writes can be polled, where work runs early") {
  SimWorld world({.order = sim::Order::kEarly});
  auto* const flag = reinterpret_cast<volatile int*>(world.NewPinned());
  *flag = 0;
  sim::Launch(world.side, {const_cast<int*>(flag)}, [=] { *flag = 1; });
  while (*flag == 0) continue;
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a stream that is asked again and again is done at some time, whatever it waits for") {
  SimWorld world({.order = sim::Order::kLate});
  bool ran = false;
  sim::Launch(world.main, {}, [&] { ran = true; });
  Event(world.main).StreamWait(world.side);
  const auto side = reinterpret_cast<sim::SimRuntime::Stream>(world.side.handle());
  int asked = 0;
  for (; sim::SimRuntime::StreamQuery(side) == sim::SimRuntime::kNotReady; ++asked) CHECK(asked < 10);
  CHECK(ran);
  CHECK(asked > 0);
  (void)sim::SimRuntime::GetLastError();
}

TEST_CASE("a stream runs its work in order") {
  SimWorld world;
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) sim::Launch(world.side, {}, [&order, i] { order.push_back(i); });
  sim::Drain();
  CHECK(order == std::vector{0, 1, 2, 3, 4});
}

/// Two kernels on either of two streams; the host waits for the side stream.
std::string OrderOf(std::uint64_t seed) {
  SimWorld world({.seed = seed});
  std::string order;
  for (const char c : {'a', 'b'}) sim::Launch(world.main, {}, [&order, c] { order += c; });
  for (const char c : {'x', 'y'}) sim::Launch(world.side, {}, [&order, c] { order += c; });
  world.side.Synchronize();
  std::string awaited = order;
  sim::Drain();
  return awaited;
}

TEST_CASE("the seed decides the order, and decides it again") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const std::string order = OrderOf(seed);
    CHECK(order == OrderOf(seed));
    orders.insert(order);
  }
  CHECK(orders.contains("xy"));    // what is not needed does not run
  CHECK(orders.contains("abxy"));  // created streams are non-blocking, but may come late
  CHECK(orders.contains("xaby"));
}

TEST_CASE("an event is a point in a stream: what comes later need not run") {
  int late = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SimWorld world({.seed = seed});
    bool before = false, after = false;
    sim::Launch(world.main, {}, [&] { before = true; });
    const Event point(world.main);
    sim::Launch(world.main, {}, [&] { after = true; });
    point.StreamWait(world.side);
    world.side.Synchronize();
    CHECK(before);
    late += !after;
    sim::Drain();
  }
  CHECK(late > 4);
}

TEST_CASE("an event may outlive its stream, and a destroyed stream finishes its work") {
  SimWorld world;
  bool ran = false;
  const Event point = [&] {
    const Stream brief(world.device);
    sim::Launch(brief, {}, [&] { ran = true; });
    return Event(brief);
  }();
  CHECK_FALSE(ran);
  point.HostWait();
  CHECK(ran);
  {
    const Stream brief(world.device);
    sim::Launch(brief, {}, [&] { ran = false; });
  }
  sim::Drain();
  CHECK_FALSE(ran);
}

TEST_CASE("a stream of one device waits for an event of another") {
  SimWorld world({.devices = 2});
  SimDevice second{1};
  bool ran = false;
  sim::Launch(world.side, {}, [&] { ran = true; });
  const Event point(world.side);
  point.StreamWait(Stream::Main(second));
  Stream::Main(second).Synchronize();
  CHECK(ran);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("pinned memory is read when the copy runs") {
  SimWorld world;
  auto* const host = world.NewPinned();
  auto* const dst = world.NewDevice(world.main);
  std::memset(host, 1, kBytes);
  world.device.Copy(CopyKind::kHostToDevice, dst, host, kBytes, world.main.handle());
  std::memset(host, 2, kBytes);
  std::byte seen{};
  sim::Launch(world.main, {dst}, [&] { seen = dst[0]; });
  sim::Drain();
  CHECK(seen == std::byte{2});
}

TEST_CASE("pageable memory is copied early, or late on demand") {
  for (const bool late : {false, true}) {
    SimWorld world({.pageable_late = late});
    std::array<std::byte, kBytes> host{};
    auto* const block = world.NewDevice(world.main);
    host.fill(std::byte{1});
    world.device.Copy(CopyKind::kHostToDevice, block, host.data(), kBytes, world.main.handle());
    host.fill(std::byte{2});
    world.main.Synchronize();
    std::byte seen{};
    sim::Launch(world.main, {block}, [&] { seen = block[0]; });
    sim::Drain();
    CHECK(seen == (late ? std::byte{2} : std::byte{1}));

    host.fill(std::byte{3});
    world.device.Copy(CopyKind::kDeviceToHost, host.data(), block, kBytes, world.main.handle());
    CHECK((host[0] == std::byte{3}) == late);
    world.main.Synchronize();
    CHECK(host[0] == seen);
  }
}

TEST_CASE("a fill and a copy within the device move the bytes they are told to") {
  SimWorld world;
  auto* const a = world.NewDevice(world.side);
  auto* const b = world.NewDevice(world.side);
  world.device.Fill(a, std::byte{7}, kBytes, world.side.handle());
  world.device.Fill(b, std::byte{8}, kBytes, world.side.handle());
  world.device.Copy(CopyKind::kDeviceToDevice, b + 1, a + 1, 2, world.side.handle());
  std::array<std::byte, 4> seen{};
  sim::Launch(world.side, {b}, [&] { std::copy_n(b, 4, seen.begin()); });
  sim::Drain();
  CHECK(seen == std::array{std::byte{8}, std::byte{7}, std::byte{7}, std::byte{8}});
}

}  // namespace
}  // namespace ferry::testing
