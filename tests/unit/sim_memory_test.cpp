// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <set>

#include "ferry/error.hpp"
#include "sim_child.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

constexpr auto kFresh = std::byte{0xA5};

TEST_CASE("the host cannot touch device memory, before a kernel and after it") {
  SimWorld world;
  for (const std::size_t bytes : {kBytes, std::size_t{3} << 20}) {
    volatile std::byte* const block = world.NewDevice(world.main, bytes);
    CHECK(SignalOf([=] { (void)block[0]; }) == SIGSEGV);
    bool within_reach = false;
    sim::Launch(world.main, {const_cast<std::byte*>(block)}, [=, &within_reach] {
      block[bytes - 1] = std::byte{1};
      within_reach = block[bytes - 1] == std::byte{1};
    });
    sim::Drain();
    CHECK(within_reach);
    CHECK(SignalOf([=] { block[bytes - 1] = std::byte{2}; }) == SIGSEGV);
  }
}

TEST_CASE("a kernel cannot touch the blocks that it did not name") {
  SimWorld world;
  std::byte* const block = world.NewDevice(world.main);
  std::byte* const other = world.NewDevice(world.main);
  CHECK(SignalOf([&] {
          sim::Launch(world.main, {block}, [=] { *other = *block; });
          sim::Drain();
        }) == SIGSEGV);
}

TEST_CASE("a kernel cannot write to what it said that it reads") {
  SimWorld world;
  std::byte* const block = world.NewDevice(world.main);
  const std::byte* const read_only = block;
  CHECK(SignalOf([&] {
          sim::Launch(world.main, {read_only}, [=] { *block = std::byte{1}; });
          sim::Drain();
        }) == SIGSEGV);
  std::byte seen{};
  sim::Launch(world.main, {read_only}, [&] { seen = *block; });
  sim::Launch(world.main, {read_only, block}, [&] { *block = std::byte{1}; });
  sim::Launch(world.main, {block, read_only}, [&] { *block = std::byte{2}; });
  sim::Drain();
  CHECK(seen == kFresh);
}

TEST_CASE("nobody can touch host-visible memory that was freed") {
  SimWorld world;
  for (const auto kind : {MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    auto* const block =
        static_cast<volatile std::byte*>(world.device.Allocate(kind, kBytes, world.main.handle()));
    block[0] = std::byte{1};
    CHECK(SignalOf([=] { (void)block[0]; }) == 0);
    world.Free(kind, const_cast<std::byte*>(block), world.main);
    CHECK(SignalOf([=] { (void)block[0]; }) == SIGSEGV);
  }
}

TEST_CASE("fresh memory holds nobody's data, on a recycled machine too") {
  for (int round = 0; round < 3; ++round) {
    SimWorld world;
    for (const std::size_t bytes : {std::size_t{1}, kBytes, std::size_t{100'000}}) {
      auto* const host = world.NewPinned(bytes);
      CHECK(std::count(host, host + bytes, kFresh) == static_cast<std::ptrdiff_t>(bytes));
      std::memset(host, 0, bytes);
      auto* const block = world.NewDevice(world.main, bytes);
      bool fresh = false;
      sim::Launch(world.main, {block}, [&, bytes] {
        fresh = std::count(block, block + bytes, kFresh) == static_cast<std::ptrdiff_t>(bytes);
        std::memset(block, 0, bytes);
      });
      sim::Drain();
      CHECK(fresh);
    }
  }
}

TEST_CASE("no address is used twice, though its memory was freed") {
  SimWorld world;
  std::set<void*> seen;
  for (int i = 0; i < 200; ++i) {
    auto* const block = world.NewDevice(world.main);
    CHECK(seen.insert(block).second);
    world.Free(MemoryKind::kDevice, block, world.main);
    sim::Drain();
  }
}

TEST_CASE("more memory than stays recognizable may come and go") {
  SimWorld world;
  for (int i = 0; i < 40; ++i) {
    auto* const block = world.NewDevice(world.main, std::size_t{8} << 20);
    world.Free(MemoryKind::kDevice, block, world.main, std::size_t{8} << 20);
    sim::Drain();
  }
  auto* const last = world.NewDevice(world.main);
  world.device.Fill(last, {}, kBytes, world.main.handle());
  sim::Drain();
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("memory is limited on each device, and out of memory names the device and the bytes") {
  SimWorld world({.devices = 2, .memory = 100});
  SimDevice second{1};
  CHECK(world.device.properties().memory == 100);
  auto* const block = world.NewDevice(world.main);
  try {
    world.NewDevice(world.main);
    FAIL("there is no room");
  } catch (const OutOfMemory& error) {
    CHECK(std::string(error.what()) == "sim:0: cannot allocate 64 bytes");
    CHECK(error.bytes() == kBytes);
  }
  CHECK_THROWS_AS(world.device.Allocate(MemoryKind::kManaged, kBytes, world.main.handle()), OutOfMemory);
  CHECK(second.Allocate(MemoryKind::kDevice, kBytes, second.properties().main_stream) != nullptr);
  CHECK(world.NewDevice(world.main, 36) != nullptr);
  CHECK(world.NewPinned() != nullptr);
  world.Free(MemoryKind::kDevice, block, world.main);
  CHECK(world.NewDevice(world.main) != nullptr);
}

TEST_CASE("pinned memory is limited on the host") {
  SimWorld world({.pinned_memory = 100});
  auto* const block = world.NewPinned();
  for (const std::size_t bytes : {kBytes, ~std::size_t{0}})
    CHECK_THROWS_MATCHES(
        world.NewPinned(bytes), OutOfMemory,
        Message("host memory pinned for sim:0: cannot allocate " + std::to_string(bytes) + " bytes"));
  CHECK(world.NewDevice(world.main, 1000) != nullptr);
  world.Free(MemoryKind::kPinnedHost, block, world.main);
  CHECK(world.NewPinned() != nullptr);
}

TEST_CASE("an allocation that nothing has room for is out of memory, and no runtime has to round it up") {
  SimWorld world;
  const long calls = sim::Inspect().calls;
  CHECK_THROWS_AS(world.NewDevice(world.main, ~std::size_t{0}), OutOfMemory);
  CHECK_THROWS_AS(world.NewPinned(~std::size_t{0}), OutOfMemory);
  CHECK(sim::Inspect().calls == calls);
  CHECK_THROWS_AS(world.NewDevice(world.main, std::size_t{1} << 50), OutOfMemory);
  CHECK(sim::SimRuntime::GetLastError() == sim::SimRuntime::kSuccess);
}

TEST_CASE("an allocation that does not fit waits for queued frees, and for no more than it needs") {
  SimWorld world({.memory = 2 * kBytes});
  auto* const first = world.NewDevice(world.side);
  auto* const second = world.NewDevice(world.side);
  std::string ran;
  sim::Launch(world.side, {first}, [&] { ran += '1'; });
  world.Free(MemoryKind::kDevice, first, world.side);
  sim::Launch(world.side, {second}, [&] { ran += '2'; });
  world.Free(MemoryKind::kDevice, second, world.side);
  CHECK(ran.empty());
  CHECK(world.NewDevice(world.main) != nullptr);
  CHECK(ran == "1");
  CHECK(world.NewDevice(world.main) != nullptr);
  CHECK(ran == "12");
  CHECK_THROWS_AS(world.NewDevice(world.main), OutOfMemory);
  CHECK(sim::Inspect().host_waits == 0);
}

TEST_CASE("what was not given back is listed with its maker and size") {
  SimWorld world;  // its stream is call 1
  auto* const block = world.NewDevice(world.main, 24);
  auto* const host = world.NewPinned(16);
  const Event point(world.main);
  CHECK(sim::Inspect().leaks ==
        std::vector<std::string>{"MallocAsync (call 2): 24 bytes", "MallocHost (call 3): 16 bytes",
                                 "StreamCreate (call 1): a stream", "EventCreate (call 4): an event"});
  world.Free(MemoryKind::kDevice, block, world.main, 24);
  world.Free(MemoryKind::kPinnedHost, host, world.main, 16);
  CHECK(sim::Inspect().leaks.size() == 2);  // queued is given back
}

}  // namespace
}  // namespace ferry::testing
