// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <stdexcept>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

TEST_CASE("a copy out of bounds is reported with its call and who made the memory") {
  SimWorld world;  // call 1 made its stream
  auto* const block = world.NewDevice(world.main);
  char host[kBytes + 1] = {};
  CHECK_THROWS_AS(world.device.Copy(CopyKind::kHostToDevice, block, host, kBytes + 1, world.main.handle()),
                  DeviceError);
  CHECK(OnlyMisuse() ==
        "MemcpyAsync (call 3): out of bounds: 65 bytes where 64 are left of those made by MallocAsync (call "
        "2)");
}

TEST_CASE("a fill out of bounds, or of the host's memory, is reported") {
  SimWorld world;
  auto* const block = world.NewDevice(world.main);
  CHECK_THROWS_AS(world.device.Fill(block + 1, {}, kBytes, world.main.handle()), DeviceError);
  CHECK(Contains(OnlyMisuse(), "MemsetAsync (call 3): out of bounds: 64 bytes where 63 are left"));
  char host[kBytes];
  CHECK_THROWS_AS(world.device.Fill(host, {}, kBytes, world.main.handle()), DeviceError);
  CHECK(Contains(sim::Inspect().misuse.back(), "memory that is not the device's"));
}

TEST_CASE("fills and copies of adopted heap are legal on a unified machine") {
  SimWorld world({.unified = true});
  std::vector<char> from(kBytes), to(kBytes);
  auto* const block = world.NewDevice(world.main);
  world.device.Fill(from.data(), std::byte{7}, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToDevice, to.data(), from.data(), kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToDevice, block, to.data(), kBytes, world.main.handle());
  CHECK(to[0] == 0);  // in the stream's order
  char seen = 0;
  sim::Launch(world.main, {block}, [&] { seen = std::to_integer<char>(block[kBytes - 1]); });
  sim::Drain();
  CHECK(to == std::vector<char>(kBytes, 7));
  CHECK(seen == 7);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("the use of a pointer that was freed is reported, though the free has not run") {
  SimWorld world;
  auto* const block = world.NewDevice(world.main);
  world.Free(MemoryKind::kDevice, block, world.main);
  CHECK_THROWS_AS(world.device.Fill(block, {}, kBytes, world.main.handle()), DeviceError);
  CHECK(OnlyMisuse() == "MemsetAsync (call 3): freed memory, made by MallocAsync (call 2)");
  sim::Drain();
  CHECK_THROWS_AS(sim::Launch(world.main, {block}, [] {}), DeviceError);
  CHECK(sim::Inspect().misuse.back() == "Launch (after call 3): freed memory, made by MallocAsync (call 2)");
}

TEST_CASE("a double free is reported, of every kind of memory") {
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    SimWorld world;
    void* const block = world.device.Allocate(kind, kBytes, world.main.handle());
    world.Free(kind, block, world.main);
    CHECK(sim::Inspect().misuse.empty());
    world.Free(kind, block, world.main);
    CHECK(Contains(OnlyMisuse(), "freed twice, made by Malloc"));
  }
}

TEST_CASE("a free of what no allocation returned, or as another kind, is reported") {
  SimWorld world;
  auto* const block = world.NewDevice(world.main);
  int mine = 0;
  world.Free(MemoryKind::kDevice, block + 1, world.main);
  CHECK(OnlyMisuse() == "FreeAsync (after call 2): a pointer that no allocation returned");
  world.Free(MemoryKind::kPinnedHost, &mine, world.main);
  CHECK(Contains(sim::Inspect().misuse.back(), "FreeHost (after call 2): a pointer that no"));
  world.Free(MemoryKind::kPinnedHost, block, world.main);
  CHECK(Contains(sim::Inspect().misuse.back(), "memory of another kind, made by MallocAsync (call 2)"));
}

TEST_CASE("a copy in the wrong direction, or over itself, is reported") {
  SimWorld world;
  auto* const block = world.NewDevice(world.main);
  auto* const other = world.NewDevice(world.main);
  auto* const host = world.NewPinned();
  const auto copy = [&](CopyKind kind, void* dst, const void* src, std::size_t bytes) {
    world.device.Copy(kind, dst, src, bytes, world.main.handle());
  };
  CHECK_THROWS_AS(copy(CopyKind::kDeviceToHost, block, host, kBytes), DeviceError);
  CHECK(OnlyMisuse() == "MemcpyAsync (call 5): wrong direction");
  CHECK_THROWS_AS(copy(CopyKind::kHostToDevice, host, block, kBytes), DeviceError);
  CHECK_THROWS_AS(copy(CopyKind::kDeviceToDevice, block, host, kBytes), DeviceError);
  CHECK_THROWS_AS(copy(CopyKind::kHostToDevice, block, other, kBytes), DeviceError);
  CHECK(sim::Inspect().misuse.size() == 4);
  CHECK_THROWS_AS(copy(CopyKind::kDeviceToDevice, block + 1, block, 2), DeviceError);
  CHECK(Contains(sim::Inspect().misuse.back(), "source and destination overlap"));
  copy(CopyKind::kDeviceToDevice, block + 2, block, 2);
  CHECK(sim::Inspect().misuse.size() == 5);
}

TEST_CASE("managed memory is on either side of a copy") {
  SimWorld world;
  void* const managed = world.device.Allocate(MemoryKind::kManaged, kBytes, world.main.handle());
  auto* const block = world.NewDevice(world.main);
  char host[kBytes] = {};
  world.device.Copy(CopyKind::kHostToDevice, managed, host, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToHost, managed, block, kBytes, world.main.handle());
  world.device.Copy(CopyKind::kDeviceToDevice, block, managed, kBytes, world.main.handle());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("memory and streams of another device are reported") {
  SimWorld world({.devices = 2});
  SimDevice second{1};
  auto* const block = world.NewDevice(world.main);
  CHECK_THROWS_AS(second.Fill(block, {}, kBytes, second.properties().main_stream), DeviceError);
  CHECK(Contains(OnlyMisuse(), "memory of another device, made by MallocAsync (call 2)"));
  CHECK_THROWS_AS(second.Synchronize(world.side.handle()), DeviceError);
  CHECK(Contains(sim::Inspect().misuse.back(), "a stream of sim:0 while sim:1 is current"));
  CHECK_THROWS_AS(sim::Launch(Stream::Main(second), {block}, [] {}), DeviceError);
  CHECK(Contains(sim::Inspect().misuse.back(), "memory of another device"));

  SimRuntime::Event event{};
  REQUIRE(SimRuntime::SetDevice(1) == SimRuntime::kSuccess);
  REQUIRE(SimRuntime::EventCreate(&event) == SimRuntime::kSuccess);
  REQUIRE(SimRuntime::SetDevice(0) == SimRuntime::kSuccess);
  CHECK(SimRuntime::EventRecord(event, Native(world.side)) == SimRuntime::kInvalidHandle);
  CHECK(Contains(sim::Inspect().misuse.back(), "an event of another device than the stream"));
}

TEST_CASE("unknown handles, and those given back, are reported") {
  SimWorld world;
  const auto stranger = Stream::Borrow(world.device, StreamHandle{4});
  CHECK_THROWS_AS(stranger.Synchronize(), DeviceError);
  CHECK(OnlyMisuse() == "StreamIsCapturing (after call 1): not a stream");
  StreamHandle old{};
  {
    const Stream brief(world.device);
    old = brief.handle();
  }
  CHECK_THROWS_AS(Event(Stream::Borrow(world.device, old)), DeviceError);
  CHECK(Contains(sim::Inspect().misuse.back(),
                 "StreamIsCapturing (after call 2): a stream that was destroyed"));
  const auto none = reinterpret_cast<SimRuntime::Event>(std::uintptr_t{5});
  CHECK(SimRuntime::EventSynchronize(none) == SimRuntime::kInvalidHandle);
  CHECK(Contains(sim::Inspect().misuse.back(), "EventSynchronize (call 3): not an event"));
  CHECK(SimRuntime::EventDestroy(none) == SimRuntime::kInvalidHandle);
  (void)SimRuntime::GetLastError();
  CHECK(Contains(sim::Inspect().misuse.back(), "EventDestroy (after call 3): not an event"));
  world.device.DestroyStream(world.main.handle());
  CHECK(Contains(sim::Inspect().misuse.back(), "StreamDestroy (after call 3): a default stream"));
  CHECK(sim::Inspect().misuse.size() == 5);
}

TEST_CASE("an event that was never recorded is reported") {
  SimWorld world;
  SimRuntime::Event event{};
  REQUIRE(SimRuntime::EventCreate(&event) == SimRuntime::kSuccess);
  CHECK(SimRuntime::EventSynchronize(event) == SimRuntime::kInvalidHandle);
  CHECK(OnlyMisuse() == "EventSynchronize (call 3): an event that was never recorded");
  CHECK(SimRuntime::StreamWaitEvent(Native(world.side), event) == SimRuntime::kInvalidHandle);
  CHECK(sim::Inspect().misuse.size() == 2);
  (void)SimRuntime::GetLastError();
}

TEST_CASE("host-visible memory that is freed while queued work uses it is reported") {
  SimWorld world;
  auto* const host = world.NewPinned();
  auto* const block = world.NewDevice(world.main);
  world.device.Copy(CopyKind::kHostToDevice, block, host, kBytes, world.main.handle());
  world.Free(MemoryKind::kPinnedHost, host, world.main);
  CHECK(OnlyMisuse() ==
        "FreeHost (after call 4): queued work still uses the memory made by MallocHost (call 2)");
  sim::Drain();
  CHECK(sim::Inspect().misuse.back() == "MemcpyAsync (call 4): the memory was freed before the work ran");
}

TEST_CASE("the use of memory before its stream-ordered allocation ran is reported for some seed") {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SimWorld world({.seed = seed});
    auto* const block = world.NewDevice(world.main);
    world.device.Fill(block, {}, kBytes, world.side.handle());  // no order with main
    world.side.Synchronize();
    for (const auto& what : sim::Inspect().misuse)
      seen += what == "MemsetAsync (call 3): the work ran before its memory was there";
    sim::Drain();
  }
  CHECK(seen > 8);
}

TEST_CASE("the use of memory after its stream-ordered free ran is reported for some seed") {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SimWorld world({.seed = seed});
    auto* const block = world.NewDevice(world.main);
    world.main.Synchronize();
    bool ran = false;
    sim::Launch(world.side, {block}, [&] { ran = true; });
    world.Free(MemoryKind::kDevice, block, world.main);  // does not wait for the side stream
    sim::Drain();
    const auto misuse = sim::Inspect().misuse;
    CHECK(ran == misuse.empty());
    seen += !ran && misuse.front() == "Launch (after call 3): the memory was freed before the work ran";
  }
  CHECK(seen > 4);
}

TEST_CASE("a kernel that is to touch memory of nobody's is reported, except on a unified machine") {
  int mine = 0;
  std::vector<int> heap(4);
  for (const bool unified : {false, true}) {
    SimWorld world({.unified = unified});
    for (int* const ptr : {&mine, heap.data()}) {
      if (unified) {
        CHECK_NOTHROW(sim::Launch(world.main, {ptr}, [=] { ++*ptr; }));
      } else {
        CHECK_THROWS_AS(sim::Launch(world.main, {ptr}, [=] { ++*ptr; }), DeviceError);
        CHECK(sim::Inspect().misuse.back() ==
              "Launch (after call 1): touches memory that is neither a device's, pinned nor managed");
      }
    }
    sim::Drain();
    CHECK(mine == (unified ? 1 : 0));
    CHECK(sim::Inspect().misuse.size() == (unified ? 0 : 2));
  }
}

TEST_CASE("a kernel that is to touch more elements than there are is reported") {
  SimWorld world;
  auto* const block = reinterpret_cast<float*>(world.NewDevice(world.main));
  sim::Launch(world.main, {{block, kBytes / sizeof(float)}, block + 15}, [] {});
  CHECK(sim::Inspect().misuse.empty());
  CHECK_THROWS_AS(sim::Launch(world.main, {{block + 1, kBytes / sizeof(float)}}, [] {}), DeviceError);
  CHECK(OnlyMisuse() ==
        "Launch (after call 2): out of bounds: 64 bytes where 60 are left of those made by MallocAsync (call "
        "2)");
  const float* const read = block;
  CHECK_THROWS_AS(sim::Launch(world.main, {{read, 17}}, [] {}), DeviceError);
  CHECK(sim::Inspect().misuse.size() == 2);
}

TEST_CASE("a kernel that is to touch fewer elements than none is refused") {
  const SimWorld world;
  float x[4] = {};
  CHECK_THROWS_MATCHES(sim::Launch(world.main, {{x, -1}}, [] {}), std::invalid_argument,
                       Catch::Matchers::Message("ferry: a kernel uses -1 elements"));
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a kernel that writes behind the end of its memory is reported by the free") {
  SimWorld world({.align_to_256 = true});
  auto* const block = world.NewDevice(world.main);
  sim::Launch(world.main, {block}, [=] { std::memset(block, 0, kBytes + 1); });
  world.Free(MemoryKind::kDevice, block, world.main);
  sim::Drain();
  CHECK(OnlyMisuse() ==
        "FreeAsync (after call 2): somebody wrote behind the end of the memory made by MallocAsync (call 2)");
}

TEST_CASE("an error about a pointer or a handle says where the report is") {
  SimWorld world;
  CHECK_THROWS_MATCHES(
      sim::Launch(world.main, {static_cast<char*>(nullptr)}, [] {}), DeviceError,
      Catch::Matchers::Message("sim Launch: kInvalidValue, an argument that cannot be; where "
                               "it is misuse, sim::Inspect().misuse has it (1)"));
  CHECK(OnlyMisuse() == "Launch (after call 1): a null pointer");
}

TEST_CASE("a stream or a device that is not simulated is refused, and the call does nothing") {
  SimWorld world;
  const auto host = MakeDevice("host");
  const Stream theirs = Stream::Main(*host);
  bool ran = false;
  const auto refused = [](const std::string& call) {
    return Catch::Matchers::Message("ferry::sim::" + call +
                                    ": the device is host:0, and is not simulated; give one of sim");
  };
  CHECK_THROWS_MATCHES(sim::Launch(theirs, {}, [&] { ran = true; }), std::invalid_argument,
                       refused("Launch"));
  CHECK_THROWS_MATCHES(sim::CreateBlockingStream(*host), std::invalid_argument,
                       refused("CreateBlockingStream"));
  CHECK_THROWS_MATCHES(sim::BeginCapture(theirs), std::invalid_argument, refused("BeginCapture"));
  CHECK_THROWS_MATCHES(sim::EndCapture(theirs), std::invalid_argument, refused("EndCapture"));
  sim::Drain();
  CHECK_FALSE(ran);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("null pointers and no bytes are reported") {
  SimWorld world;
  CHECK_THROWS_AS(world.device.Fill(nullptr, {}, kBytes, world.main.handle()), DeviceError);
  CHECK(Contains(OnlyMisuse(), "MemsetAsync (call 2): a null pointer"));
  CHECK_THROWS_AS(world.NewDevice(world.main, 0), DeviceError);
  CHECK(Contains(sim::Inspect().misuse.back(), "MallocAsync (call 3): no bytes"));
}

}  // namespace
}  // namespace ferry::testing
