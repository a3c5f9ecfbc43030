// SPDX-License-Identifier: BSD-2-Clause
// What a checked device knows of others: events and memory that it did not give out itself.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <stdexcept>

#include "backends/host/host_device.hpp"
#include "ferry/checked_device.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using enum MemoryKind;
using enum CopyKind;

struct Reset {
  explicit Reset(const sim::Options& options) { sim::Reset(options); }
};

/// Two simulated GPUs and the host, checked, with a block of each kind.
struct World : Reset {
  explicit World(bool peers = true) : Reset({.devices = 2, .peers = peers}) {}
  ~World() {
    for (CheckedDevice* const device : {&first, &second}) device->Synchronize(main);
    first.Deallocate(kDevice, there, kBytes, main);
    first.Deallocate(kPinnedHost, pinned, kBytes, main);
    second.Deallocate(kDevice, here, kBytes, main);
    sim::Drain();
    CHECK(sim::Inspect().misuse.empty());
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  CheckedDevice first{std::make_unique<SimDevice>(0)};
  CheckedDevice second{std::make_unique<SimDevice>(1)};
  CheckedDevice host{std::make_unique<host::HostDevice>()};
  StreamHandle main = first.properties().main_stream;
  void* there = first.Allocate(kDevice, kBytes, main);
  void* pinned = first.Allocate(kPinnedHost, kBytes, main);
  void* here = second.Allocate(kDevice, kBytes, main);
};

/// `call` is misuse of `device` that says `what`.
template <class Call>
void CheckMisuse(CheckedDevice& device, const std::string& what, Call call) {
  const auto before = device.misuse_count();
  CHECK_THROWS_MATCHES(call(), std::logic_error, Message("Device::" + what));
  CHECK(device.misuse_count() == before + 1);
}

TEST_CASE("a peer's memory may be copied from, and nothing else be done with it") {
  World world;
  CheckedDevice& device = world.second;
  const auto copy = [&](CopyKind kind, void* dst, const void* src) {
    device.Copy(kind, dst, src, kBytes, world.main);
  };
  copy(kDeviceToDevice, world.here, world.there);
  const auto point = device.CopyAndRecord(kDeviceToDevice, world.here, world.there, 1, world.main);
  REQUIRE(point.has_value());
  device.Release(*point);
  const std::string its = " is memory of sim:0";
  CheckMisuse(device, "Copy: dst" + its, [&] { copy(kDeviceToDevice, world.there, world.here); });
  CheckMisuse(device, "Copy: dst" + its, [&] { copy(kHostToDevice, world.there, world.pinned); });
  CheckMisuse(device, "Copy: src" + its, [&] { copy(kDeviceToHost, world.pinned, world.there); });
  CheckMisuse(device, "Copy: src" + its, [&] { copy(kHostToDevice, world.here, world.there); });
  CheckMisuse(device, "Fill: dst" + its, [&] { device.Fill(world.there, std::byte{}, kBytes, world.main); });
  CheckMisuse(device, "Copy: src ends outside its block",
              [&] { copy(kDeviceToDevice, world.here, static_cast<char*>(world.there) + 1); });
  CHECK(world.first.misuse_count() == 0);
}

TEST_CASE("memory of a device that is no peer is not copied from, on one backend or two") {
  {
    World world;  // where sim:0 is a peer
    void* const far = world.host.Allocate(kDevice, kBytes, world.main);
    CheckMisuse(world.second, "Copy: src is memory of host:0, which is no peer of sim:1",
                [&] { world.second.Copy(kDeviceToDevice, world.here, far, kBytes, world.main); });
    world.host.Deallocate(kDevice, far, kBytes, world.main);
  }
  World world(false);
  char bytes[kBytes] = {};
  CheckMisuse(world.second, "Copy: src is memory of sim:0, which is no peer of sim:1",
              [&] { world.second.Copy(kDeviceToDevice, world.here, world.there, kBytes, world.main); });
  CheckMisuse(world.host, "Copy: src is memory of sim:1, which is no peer of host:0",
              [&] { world.host.Copy(kDeviceToDevice, bytes, world.here, kBytes, world.main); });
}

TEST_CASE("another device's host memory passes as the host's, within its block") {
  World world;
  CheckedDevice& device = world.second;
  device.Copy(kHostToDevice, world.here, world.pinned, kBytes, world.main);
  device.Copy(kDeviceToHost, world.pinned, world.here, kBytes, world.main);
  CHECK(device.misuse_count() == 0);
  CheckMisuse(device, "Copy: dst ends outside its block",
              [&] { device.Copy(kDeviceToHost, world.pinned, world.here, kBytes + 1, world.main); });
  CheckMisuse(device, "Copy: src is memory of the wrong kind",
              [&] { device.Copy(kDeviceToDevice, world.here, world.pinned, kBytes, world.main); });
}

TEST_CASE("a unified device may use another device's pinned memory as its own") {
  const Reset reset({.devices = 2, .unified_devices = 1});
  CheckedDevice first{std::make_unique<SimDevice>(0)}, unified{std::make_unique<SimDevice>(1)};
  const StreamHandle main = unified.properties().main_stream;
  void* const pinned = first.Allocate(kPinnedHost, kBytes, main);
  unified.Fill(pinned, std::byte{3}, kBytes, main);
  unified.Synchronize(main);
  CHECK(*static_cast<const std::byte*>(pinned) == std::byte{3});
  CHECK(unified.misuse_count() == 0);
  CheckMisuse(first, "Fill: dst is memory of the wrong kind",
              [&] { first.Fill(pinned, std::byte{}, kBytes, main); });
  first.Deallocate(kPinnedHost, pinned, kBytes, main);
}

TEST_CASE("what another stack on the same GPU gave out is as good as one's own") {
  World world;
  CheckedDevice again(std::make_unique<SimDevice>(1));
  again.Copy(kHostToDevice, world.here, world.pinned, kBytes, world.main);
  again.Fill(world.here, std::byte{1}, kBytes, world.main);
  CHECK(again.misuse_count() == 0);
  CheckMisuse(again, "Fill: dst ends outside its block",
              [&] { again.Fill(world.here, std::byte{1}, kBytes + 1, world.main); });
}

TEST_CASE("a stream waits for events of its backend, and for no other") {
  World world;
  const EventHandle far = world.first.Record(world.main), host = world.host.Record(world.main);
  world.second.StreamWait(world.main, far);
  CHECK(world.second.misuse_count() == 0);
  CheckMisuse(world.second, "StreamWait: an event of host:0, for which no stream of sim:1 can wait",
              [&] { world.second.StreamWait(world.main, host); });
  CheckMisuse(world.second, "HostWait: not an event of this device, or released before",
              [&] { world.second.HostWait(far); });
  world.first.Release(far);
  CheckMisuse(world.second, "StreamWait: the event was released",
              [&] { world.second.StreamWait(world.main, far); });
  world.host.Release(host);
}

TEST_CASE("an event that no checked device knows passes, and one that went with its device") {
  World world;
  EventHandle gone{};
  {
    CheckedDevice third(std::make_unique<host::HostDevice>());
    const EventHandle first = third.Record(world.main);
    gone = third.Record(world.main);
    third.Release(first);
    third.Release(gone);
    CheckMisuse(world.host, "StreamWait: the event was released",
                [&] { world.host.StreamWait(world.main, gone); });
    const EventHandle again = world.host.Record(world.main);
    REQUIRE(again == first);  // as vendors give out a handle again
    third.StreamWait(world.main, again);
    CHECK(third.misuse_count() == 0);
    world.host.Release(again);
  }
  world.host.StreamWait(world.main, gone);
  world.host.StreamWait(world.main, EventHandle{12345});
  CHECK(world.host.misuse_count() == 1);
}

}  // namespace
}  // namespace ferry::testing
