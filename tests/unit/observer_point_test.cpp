// SPDX-License-Identifier: BSD-2-Clause
// What observers are told of the events that a program makes, and of who waits for them.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ferry/ferry.hpp"
#include "observer_fixture.hpp"

namespace ferry::testing {
namespace {

struct Points : Observer {
  using Observer::On;
  void On(const PointRecord& point) override {
    numbers.push_back(point.number), streams.push_back(point.on->id());
    then();
  }
  void On(const PointWaitRecord& wait) override {
    awaited.push_back(wait.point), streams.push_back(wait.on->id());
    then();
  }
  void On(const SyncRecord& sync) override { synchronized.push_back(sync.points); }

  std::function<void()> then = [] {};
  std::vector<std::uint64_t> numbers, awaited;
  std::vector<detail::StreamId> streams;
  std::vector<std::array<std::uint64_t, 2>> synchronized;
};

struct PointFixture : ObserverFixture {
  std::shared_ptr<Points> told = std::make_shared<Points>();
};
using Pair = std::array<std::uint64_t, 2>;

TEST_CASE("Each event has a number of its own, by which waits for it and for its copies are told") {
  PointFixture f;
  const Stream one(*f.device), two(*f.device);
  const Event before(one);
  const Watch watch(f.told);
  const Event first(one), second = Event::Measuring(two), copy = first;
  REQUIRE(f.told->numbers.size() == 2);
  const std::uint64_t a = f.told->numbers[0], b = f.told->numbers[1];
  CHECK((a != 0 && b != 0 && a != b));
  copy.StreamWait(two), before.StreamWait(two);
  CHECK(f.told->awaited == std::vector<std::uint64_t>{a, 0});
  CHECK(f.told->streams == std::vector{one.id(), two.id(), two.id(), two.id()});
  copy.HostWait(), before.HostWait(), one.Synchronize();
  const Event third = Event::Measuring(one);
  static_cast<void>(Elapsed(second, third));
  CHECK(f.told->synchronized == std::vector<Pair>{{a, 0}, {0, 0}, {0, 0}, {b, f.told->numbers[2]}});
}

TEST_CASE("Events that Ferry makes for itself, or a program by a bare handle, are not told") {
  PointFixture f;
  const Watch watch(f.told);
  const Stream one(*f.device), two(*f.device);
  const auto other = MakeDevice("sim:0");
  Overlap section(*f.device);
  {
    SyncedMemory memory(64, *f.device);
    memory.mutable_gpu_data(one), memory.gpu_data(two), memory.mutable_gpu_data(one);
    memory.cpu_data(), memory.gpu_data(Stream::Main(*other));
    memory.Forget(Stream::Borrow(*f.device, one.handle()));
    memory.mutable_cpu_data(), memory.Prefetch(Side::kGpu, one), memory.gpu_data(two);
    const Overlap::Kernels kernels(section, one);
    memory.mutable_gpu_data(two);
  }
  Event(*f.device, one.handle()).StreamWait(two);
  Event::Measuring(*f.device, one.handle()).HostWait();
  section.End();
  CHECK(f.told->numbers.empty());
  CHECK(f.told->awaited == std::vector<std::uint64_t>{0});
}

TEST_CASE("An observer that makes an event, or has a stream wait for one, is not told of it") {
  PointFixture f;
  const Stream one(*f.device), two(*f.device);
  const Watch watch(f.told);
  f.told->then = [&] { Event(one).StreamWait(two); };
  const Event point(one);
  point.StreamWait(two);
  CHECK(f.told->numbers.size() == 1);
  CHECK(f.told->awaited.size() == 1);
}

TEST_CASE("A wait that fails is not told") {
  sim::Reset({.seed = 1, .fail_at = 1, .fail_call = "StreamWaitEvent"});
  const auto device = MakeDevice("sim:0");
  const auto told = std::make_shared<Points>();
  const Watch watch(told);
  const Stream one(*device), two(*device);
  CHECK_THROWS_AS(Event(one).StreamWait(two), DeviceError);
  CHECK(told->awaited.empty());
}

}  // namespace
}  // namespace ferry::testing
