// SPDX-License-Identifier: BSD-2-Clause
// Accesses of the same bytes that nothing orders.
#include <array>

#include "ferry/error.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

/// A block that is there, for every stream.
struct RaceWorld : SimWorld {
  explicit RaceWorld(const sim::Options& options = {}) : SimWorld(options), block(NewDevice(main)) {
    main.Synchronize();
  }
  void Write(const Stream& on, std::size_t first = 0, std::size_t bytes = kBytes) {
    sim::Launch(on, {{block + first, static_cast<std::int64_t>(bytes)}}, [] {});
  }
  void Read(const Stream& on, std::size_t first = 0, std::size_t bytes = kBytes) {
    sim::Launch(on, {{static_cast<const std::byte*>(block) + first, static_cast<std::int64_t>(bytes)}},
                [] {});
  }
  static std::size_t Races() { return sim::Inspect().misuse.size(); }

  std::byte* block;
};

TEST_CASE("an update that another stream may lose is reported under every seed") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RaceWorld world({.seed = seed});
    world.Write(world.main);
    world.Write(world.side);
    sim::Drain();
    CHECK(OnlyMisuse() ==
          "Launch (after call 3): a race with Launch (after call 3) for bytes 0 to 63 of those made by "
          "MallocAsync "
          "(call 2): nothing orders the two streams");
  }
}

TEST_CASE("a read and a write of the same bytes race, whichever comes first") {
  RaceWorld world;
  world.Read(world.main, 8, 8);
  world.Write(world.side, 12, 20);
  CHECK(Contains(OnlyMisuse(), "for bytes 12 to 15 of"));
  world.Read(world.main, 30, 1);
  CHECK(world.Races() == 2);
}

TEST_CASE("a main stream comes after what a blocking stream has waited for") {
  RaceWorld world;
  const Stream blocking = Stream::Borrow(world.device, sim::kPerThreadStream);
  world.Write(world.side);
  Event(world.side).StreamWait(blocking);
  world.Write(world.main);
  CHECK(world.Races() == 0);
}

TEST_CASE("readers do not race, nor do parts that do not overlap") {
  RaceWorld world;
  world.Read(world.main);
  world.Read(world.side);
  world.main.Synchronize();
  world.side.Synchronize();
  world.Write(world.main, 0, 32);
  world.Write(world.side, 32, 32);
  world.Read(world.main, 16, 16);
  CHECK(world.Races() == 0);
  world.Read(world.main, 16, 17);
  CHECK(world.Races() == 1);
}

TEST_CASE(
    "what a stream does to a part is not forgotten for what it did to the whole, nor the other way round") {
  for (const bool part_first : {false, true}) {
    RaceWorld world;
    if (part_first) world.Write(world.side, 0, 8);
    world.Write(world.side);
    if (!part_first) world.Write(world.side, 0, 8);
    world.Write(world.main, 32, 8);
    CHECK(world.Races() == 1);
  }
}

TEST_CASE("copies and fills race like kernels") {
  RaceWorld world;
  auto* const host = world.NewPinned();
  world.device.Fill(world.block, {}, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToHost, host, world.block, kBytes, world.side.handle());
  CHECK(
      OnlyMisuse() ==
      "MemcpyAsync (call 6): a race with MemsetAsync (call 5) for bytes 0 to 63 of those made by MallocAsync "
      "(call 2): nothing orders the two streams");
  sim::Drain();
  world.device.Copy(CopyKind::kHostToDevice, world.block, host, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToHost, host, world.NewDevice(world.side), kBytes, world.side.handle());
  CHECK(Contains(sim::Inspect().misuse.back(), "made by MallocHost"));
  CHECK(world.Races() == 2);
}

TEST_CASE("an event orders what comes before it on its stream with what comes after the wait") {
  RaceWorld world;
  world.Write(world.main);
  const Event point(world.main);
  world.Write(world.main, 0, 1);
  point.StreamWait(world.side);
  world.Write(world.side, 1, 63);
  CHECK(world.Races() == 0);
  world.Read(world.side, 0, 1);
  CHECK(world.Races() == 1);
}

TEST_CASE("order goes on through a third stream, one of another device too") {
  RaceWorld world({.devices = 2});
  SimDevice second{1};
  const Stream third(second);
  world.Write(world.main);
  Event(world.main).StreamWait(third);
  Event(third).StreamWait(world.side);
  world.Write(world.side);
  CHECK(world.Races() == 0);
}

TEST_CASE("a host that has waited orders what it queues later") {
  std::array<char, kBytes> pageable{};
  const std::array<void (*)(RaceWorld&, void*), 6> waits = {
      [](RaceWorld& world, void*) { world.main.Synchronize(); },
      [](RaceWorld& world, void*) { Event(world.main).HostWait(); },
      [](RaceWorld&, void*) { (void)SimRuntime::DeviceSynchronize(); },
      [](RaceWorld&, void*) { sim::Drain(); },
      [](RaceWorld& world, void* host) {
        world.device.Copy(CopyKind::kDeviceToHost, host, world.block, kBytes, world.main.handle());
      },
      [](RaceWorld& world, void*) {
        Event(world.main).StreamWait(world.side);
        world.side.Synchronize();
      },
  };
  for (const auto wait : waits) {
    RaceWorld world;
    world.Write(world.main);
    wait(world, pageable.data());
    world.Write(Stream(world.device));
    CHECK(world.Races() == 0);
    world.Write(world.side);
    CHECK(world.Races() == 1);
  }
}

TEST_CASE("a stream that was asked and is idle is as good as waited for, and one that is not says nothing") {
  for (const bool idle : {false, true}) {
    RaceWorld world;
    world.Write(world.main);
    REQUIRE(SimRuntime::StreamQuery(Native(world.main)) == SimRuntime::kNotReady);
    if (idle) REQUIRE(SimRuntime::StreamQuery(Native(world.main)) == SimRuntime::kSuccess);
    (void)SimRuntime::GetLastError();
    world.Write(world.side);
    CHECK(world.Races() == (idle ? 0 : 1));
  }
}

TEST_CASE("a wait orders nothing that was queued before it") {
  RaceWorld world;
  world.Write(world.side);
  world.Write(world.main, 0, 0);
  Event(world.main).StreamWait(world.side);
  world.Read(world.main);
  CHECK(world.Races() == 1);
}

TEST_CASE("the work of a stream that is gone still races, until somebody waits for it") {
  for (const bool waits : {false, true}) {
    RaceWorld world;
    {
      const Stream brief(world.device);
      world.Write(brief);
    }
    if (waits) (void)SimRuntime::DeviceSynchronize();
    world.Write(world.side);
    CHECK(world.Races() == (waits ? 0 : 1));
  }
}

TEST_CASE("memory that comes after a free holds no races of what was there") {
  constexpr std::size_t kLarge = std::size_t{24} << 20;  // so that the simulator soon forgets the old blocks
  RaceWorld world;
  for (int i = 0; i < 8; ++i)
    for (const Stream* on : {&world.main, &world.side}) {
      world.block = world.NewDevice(*on, kLarge);
      world.Write(*on);
      world.Free(MemoryKind::kDevice, world.block, *on, kLarge);
      (void)SimRuntime::StreamQuery(Native(*on));  // which runs something
      (void)SimRuntime::StreamQuery(Native(*on));
      (void)SimRuntime::StreamQuery(Native(*on));
    }
  (void)SimRuntime::GetLastError();
  sim::Drain();
  CHECK(world.Races() == 0);
}

TEST_CASE("the search for races can be switched off") {
  RaceWorld world({.race_check = false});
  world.Write(world.main);
  world.Write(world.side);
  CHECK(world.Races() == 0);
}

}  // namespace
}  // namespace ferry::testing
