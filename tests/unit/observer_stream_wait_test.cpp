// SPDX-License-Identifier: BSD-2-Clause
// What observers are told of streams that wait for each other.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"
#include "observer_fixture.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

/// With the stream that waits, which may be gone when the observer has returned.
struct ToldWait : StreamWaitRecord {
  explicit ToldWait(const StreamWaitRecord& told) : StreamWaitRecord(told), waiter(told.on->id()) {}
  detail::StreamId waiter;
};

struct StreamWaits : Observer {
  using Observer::On;
  void On(const StreamWaitRecord& wait) override { waits.emplace_back(wait); }
  std::vector<ToldWait> waits;
};

struct StreamWaitFixture : ObserverFixture {
  std::vector<ToldWait> Take() { return std::exchange(told->waits, {}); }
  std::shared_ptr<StreamWaits> told = std::make_shared<StreamWaits>();
  Watch watch{told};
};

TEST_CASE(
    "A stream that reads what another one has written waits for all of that stream's work, and says where") {
  StreamWaitFixture f;
  const Stream writer(*f.device), reader(*f.device);
  SyncedMemory memory(64, *f.device, "x");
  memory.mutable_gpu_data(writer);
  CHECK(f.Take().empty());
  memory.gpu_data(reader);
  const int line = __LINE__ - 1;
  const auto waits = f.Take();
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].memory == &memory);
  CHECK((waits[0].range.first == 0 && waits[0].range.bytes == 64));
  CHECK(waits[0].other == f.device.get());
  CHECK(waits[0].waits_for == writer.id());
  CHECK_FALSE(waits[0].for_point);
  CHECK(waits[0].access == Access::kRead);
  CHECK(std::string(waits[0].site.file()) == __FILE__);
  CHECK(waits[0].site.line() == line);
}

TEST_CASE("A stream waits for no work of its own, and for another one's once") {
  StreamWaitFixture f;
  const Stream writer(*f.device), reader(*f.device);
  SyncedMemory memory(64, *f.device);
  memory.mutable_gpu_data(writer);
  memory.gpu_data(writer);
  CHECK(f.Take().empty());
  memory.gpu_data(reader);
  CHECK(f.Take().size() == 1);
  memory.gpu_data(reader);
  CHECK(f.Take().empty());
}

TEST_CASE("A write waits for each stream that has read") {
  StreamWaitFixture f;
  const Stream one(*f.device), two(*f.device), writer(*f.device);
  SyncedMemory memory(64, *f.device);
  memory.mutable_gpu_data(writer);
  memory.gpu_data(one), memory.gpu_data(two);
  f.Take();
  memory.overwrite_gpu_data(writer);
  const auto waits = f.Take();
  REQUIRE(waits.size() == 2);
  CHECK(waits[0].waits_for != waits[1].waits_for);
  for (const ToldWait& wait : waits) {
    CHECK((wait.waits_for == one.id() || wait.waits_for == two.id()));
    CHECK(wait.access == Access::kOverwrite);
  }
}

TEST_CASE("Who waits for a copy alone is told so, and of the bytes that it needs") {
  StreamWaitFixture f;
  const Stream copies(*f.device), reader(*f.device);
  SyncedMemory memory(64, *f.device);
  memory.mutable_cpu_data();
  memory.Prefetch(Side::kGpu, copies);
  CHECK(f.Take().empty());
  memory.gpu_data({16, 16}, reader);
  const auto waits = f.Take();
  REQUIRE(waits.size() == 1);
  CHECK((waits[0].range.first == 16 && waits[0].range.bytes == 16));
  CHECK(waits[0].waits_for == copies.id());
  CHECK(waits[0].for_point);
}

TEST_CASE("Who waits for several copies is told of each") {
  StreamWaitFixture f;
  const Stream one(*f.device), two(*f.device), reader(*f.device);
  SyncedMemory memory(64, *f.device);
  memory.mutable_cpu_data();
  memory.Prefetch(Side::kGpu, one, {0, 32});
  memory.Prefetch(Side::kGpu, two, {32, 32});
  f.Take();
  memory.gpu_data(reader);
  const auto waits = f.Take();
  REQUIRE(waits.size() == 2);
  CHECK((waits[0].for_point && waits[1].for_point && waits[0].waits_for != waits[1].waits_for));
}

TEST_CASE("A copy's stream waits for who still uses its destination") {
  StreamWaitFixture f;
  const Stream reader(*f.device), copies(*f.device);
  SyncedMemory memory(64, *f.device);
  memory.mutable_cpu_data();
  memory.gpu_data(reader);
  memory.mutable_cpu_data();
  f.Take();
  memory.Prefetch(Side::kGpu, copies);
  const auto waits = f.Take();
  REQUIRE(waits.size() == 2);  // for the copy there, and for who read behind it
  CHECK(waits[0].for_point != waits[1].for_point);
  for (const ToldWait& wait : waits)
    CHECK((wait.waiter == copies.id() && wait.waits_for == reader.id() && wait.access == Access::kOverwrite));
}

TEST_CASE("A copy's stream waits for who wrote its source, and zeroing for who used the bytes") {
  StreamWaitFixture f;
  const Stream writer(*f.device), other(*f.device);
  SyncedMemory memory(64, *f.device);
  memory.mutable_gpu_data(writer);
  memory.Prefetch(Side::kCpu, other);
  auto waits = f.Take();
  REQUIRE(waits.size() == 1);
  CHECK((waits[0].waiter == other.id() && waits[0].waits_for == writer.id() &&
         waits[0].access == Access::kRead));
  memory.Resize(0);
  memory.Resize(64);
  memory.gpu_data(other);  // reads zeros, which it fills in first
  waits = f.Take();
  REQUIRE(waits.size() == 1);
  CHECK((waits[0].waits_for == writer.id() && waits[0].access == Access::kReadWrite));
}

TEST_CASE("A stream that has gone is told by the number that it had") {
  StreamWaitFixture f;
  const Stream reader(*f.device);
  std::optional<Stream> writer(*f.device);
  const auto id = writer->id();
  SyncedMemory memory(64, *f.device);
  memory.mutable_gpu_data(*writer);
  writer.reset();
  memory.gpu_data(reader);
  const auto waits = f.Take();
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].waits_for == id);
}

TEST_CASE("A wait that a device refuses is not told") {
  LogDevice device;
  const Stream writer(device), reader(device);
  SyncedMemory memory(64, device);
  memory.mutable_gpu_data(writer);
  const auto told = std::make_shared<StreamWaits>();
  const Watch watch(told);
  device.FailAt(2);  // after the point that it would wait for
  CHECK_THROWS_AS(memory.gpu_data(reader), DeviceError);
  CHECK(told->waits.empty());
}

}  // namespace
}  // namespace ferry::testing
