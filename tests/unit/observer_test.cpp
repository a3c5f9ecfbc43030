// SPDX-License-Identifier: BSD-2-Clause
// What observers are told of memories.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "observer_fixture.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

bool IsHere(const Site& site, int line) {
  return std::string(site.file()) == __FILE__ && site.line() == line;
}

TEST_CASE("A copy's record has the sites of the access and of the write that made it necessary") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device, "x");
  memory.mutable_cpu_data();
  const int wrote = __LINE__ - 1;
  memory.gpu_data();
  const int read = __LINE__ - 1;
  REQUIRE(f.notes->copies.size() == 1);
  const CopyRecord& copy = f.notes->copies[0];
  CHECK(copy.memory == &memory);
  CHECK(copy.range.first == 0);
  CHECK(copy.range.bytes == 64);
  CHECK(copy.from == nullptr);
  CHECK(copy.to == f.device.get());
  CHECK(IsHere(copy.site, read));
  REQUIRE(copy.written);
  CHECK(IsHere(copy.written->site, wrote));
  CHECK(copy.written->access == Access::kReadWrite);
  CHECK_FALSE(copy.pageable);
}

TEST_CASE("An observer is told that a copy starts when its waits are queued, and the copy is not") {
  struct Starts : Observer {
    explicit Starts(LogDevice& of) : device(of) {}
    void OnStart(const CopyRecord&) override { before.push_back(device.Take()); }
    LogDevice& device;
    std::vector<Calls> before;
  };
  LogDevice device;
  const Stream writer(device), copies(device);
  SyncedMemory memory(16, device);
  memory.mutable_gpu_data(writer);
  const auto starts = std::make_shared<Starts>(device);
  const Watch watch(starts);
  memory.Prefetch(Side::kCpu, copies);
  REQUIRE(starts->before.size() == 1);
  CHECK(starts->before[0].back() == "s2 waits for e1");
  CHECK(device.Take() == Calls{"to host 16 on s2", "record e2 on s2"});
}

TEST_CASE("An access's record has the write that took the bytes away, and a read is no write") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device);
  memory.mutable_cpu_data();
  const int wrote = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->accesses.back().written);
  CHECK(IsHere(f.notes->accesses.back().written->site, wrote));
  memory.Release(Side::kGpu);
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 2);
  CHECK(IsHere(f.notes->copies[1].written->site, wrote));
}

TEST_CASE("A write of a part is the one that its bytes are copied for") {
  ObserverFixture f;
  const Watch watch(f.notes);
  SyncedMemory memory(64, *f.device);
  memory.overwrite_cpu_data();
  const int whole = __LINE__ - 1;
  memory.mutable_cpu_data({16, 16});
  memory.gpu_data();
  memory.mutable_cpu_data({16, 16});
  const int part = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 2);
  CHECK(IsHere(f.notes->copies[0].written->site, whole));
  CHECK(IsHere(f.notes->copies[1].written->site, part));
  CHECK(f.notes->copies[1].range.first == 16);
  CHECK(f.notes->copies[1].range.bytes == 16);
}

TEST_CASE("Of several writes, the one of the most bytes is the one that they are copied for") {
  ObserverFixture f;
  SyncedMemory memory(4096, *f.device, "x");
  const Watch watch(f.notes);
  const auto write = [&](ByteRange range) { memory.overwrite_cpu_data(range); };
  write({0, 64});
  for (std::size_t row = 0; row < 80; ++row) memory.overwrite_cpu_data({64 + 50 * row, 50});
  write({4064, 32});
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 1);
  REQUIRE(f.notes->copies[0].written);
  CHECK(f.notes->copies[0].written->site.line() == f.notes->accesses[1].site.line());
  CHECK(f.notes->copies[0].written->site.line() != f.notes->accesses[0].site.line());
}

TEST_CASE("What a Resize adds nobody has written, whoever wrote there before") {
  ObserverFixture f;
  SyncedMemory memory(64, *f.device, "x");
  const Watch watch(f.notes);
  memory.overwrite_cpu_data();
  memory.Resize(16), memory.Resize(64);
  memory.gpu_data();  // zeroed there, except for the first bytes
  memory.cpu_data({32, 32});
  REQUIRE(f.notes->copies.size() == 2);
  CHECK(f.notes->copies[0].written);
  CHECK_FALSE(f.notes->copies[1].written);
}

TEST_CASE("Each run that becomes zeros is told, with who asked for it and where") {
  ObserverFixture f;
  SyncedMemory memory(64, *f.device, "x");
  const Stream stream(*f.device);
  const auto starts = [&] { memory.Prefetch(Side::kGpu, stream, {0, 16}); };
  const Watch watch(f.notes);
  memory.overwrite_cpu_data({16, 8}), memory.overwrite_cpu_data({32, 8});
  starts();
  memory.cpu_data();
  const auto& fills = f.notes->fills;
  REQUIRE(fills.size() == 3);
  const auto is = [&](const FillRecord& fill, ByteRange range, const Stream* on, Purpose purpose) {
    CHECK(fill.memory == &memory);
    CHECK((fill.range.first == range.first && fill.range.bytes == range.bytes));
    CHECK(fill.on == on);
    CHECK(fill.access == Access::kRead);
    CHECK(fill.purpose == purpose);
    CHECK(fill.took_ns > 0);
  };
  is(fills[0], {0, 16}, &stream, Purpose::kPrefetch);
  is(fills[1], {24, 8}, nullptr, Purpose::kAccess);
  is(fills[2], {40, 24}, nullptr, Purpose::kAccess);
  CHECK(fills[1].site.line() == f.notes->accesses.back().site.line());
}

TEST_CASE("A copy says where it is wanted, though it goes by way of the host") {
  sim::Reset({.devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  SyncedMemory memory(64, *first);
  memory.mutable_gpu_data();
  const auto notes = std::make_shared<Notes>();
  const Watch watch(notes);
  memory.gpu_data(Stream::Main(*second));
  memory.mutable_gpu_data(), memory.cpu_data();
  REQUIRE(notes->copies.size() == 3);
  CHECK((notes->copies[0].side == Side::kGpu && notes->copies[0].to == nullptr));
  CHECK(notes->copies[1].side == Side::kGpu);
  CHECK(notes->copies[2].side == Side::kCpu);
}

TEST_CASE("A copy between devices is not pageable, whoever gave the host's bytes") {
  sim::Reset({.devices = 2});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  std::vector<float> given(16, 1.0F);
  SyncedMemory memory(64, *first);
  memory.set_cpu_data(given.data());
  memory.mutable_gpu_data();
  const auto notes = std::make_shared<Notes>();
  const Watch watch(notes);
  memory.gpu_data(Stream::Main(*second));
  REQUIRE(notes->copies.size() == 1);
  CHECK(notes->copies[0].from == first.get());
  CHECK_FALSE(notes->copies[0].pageable);
}

TEST_CASE("Bytes that were given are pageable, and the call that gave them has written them") {
  ObserverFixture f;
  const Watch watch(f.notes);
  std::vector<float> given(16, 1.0F);
  SyncedMemory memory(64, *f.device);
  memory.set_cpu_data(given.data());
  const int gave = __LINE__ - 1;
  memory.gpu_data();
  REQUIRE(f.notes->copies.size() == 1);
  CHECK(f.notes->copies[0].pageable);
  CHECK(f.notes->copies[0].source == given.data());
  CHECK(IsHere(f.notes->copies[0].written->site, gave));
}

TEST_CASE("A call that gives bytes is told as an access that overwrites all") {
  ObserverFixture f;
  const auto of_work = std::make_shared<Notes>();
  const Watch all(f.notes), work(of_work, Told::kOfWork);
  SyncedMemory memory(64, *f.device);
  std::byte given[64]{};
  void* const there = f.device->Allocate(MemoryKind::kDevice, 64, f.device->properties().main_stream);
  memory.set_cpu_data(given);
  memory.set_gpu_data(there);
  REQUIRE(f.notes->accesses.size() == 2);
  REQUIRE(of_work->accesses.size() == 1);
  CHECK(of_work->accesses[0].side == Side::kGpu);
  for (const AccessRecord& access : f.notes->accesses) {
    CHECK(access.access == Access::kOverwrite);
    CHECK(access.range.bytes == 64);
    CHECK(access.action == Action::kNone);
    CHECK(access.after == (access.side == Side::kGpu ? Head::HEAD_AT_GPU : Head::HEAD_AT_CPU));
  }
  memory.Release(Side::kGpu);
  f.device->Deallocate(MemoryKind::kDevice, there, 64, f.device->properties().main_stream);
}

TEST_CASE("A wait of the host is told with the write that it waits for") {
  ObserverFixture f;
  SyncedMemory memory(64, *f.device);
  const Watch watch(f.notes);
  memory.overwrite_gpu_data();
  const int wrote = __LINE__ - 1;
  memory.cpu_data();
  const int read = __LINE__ - 1;
  REQUIRE(f.notes->waits.size() == 1);
  CHECK(IsHere(f.notes->waits[0].site, read));
  CHECK(IsHere(f.notes->waits[0].written->site, wrote));
  CHECK(f.notes->accesses.back().waited_ns == f.notes->waits[0].waited_ns);
}

TEST_CASE("An observer that refuses a copy fails the access, and nothing has changed") {
  ObserverFixture f;
  SyncedMemory memory(4, *f.device);
  *static_cast<int*>(memory.overwrite_cpu_data()) = 7;
  const Watch watch(f.notes);
  f.notes->refuses = true;
  CHECK_THROWS_AS(memory.gpu_data(), std::runtime_error);
  CHECK(memory.head() == Head::HEAD_AT_CPU);
  CHECK(f.notes->copies.empty());
  f.notes->refuses = false;
  memory.mutable_gpu_data();
  f.notes->refuses = true;
  CHECK_THROWS_AS(memory.cpu_data(), std::runtime_error);
  CHECK(memory.head() == Head::HEAD_AT_GPU);
  f.notes->refuses = false;
  CHECK(*static_cast<const int*>(memory.cpu_data()) == 7);
}

TEST_CASE("Observers are asked once of a copy, though it waits for memory") {
  FullFixture f;
  SyncedMemory memory(FullFixture::kBytes, *f.device);
  memory.mutable_cpu_data();
  const auto notes = std::make_shared<Notes>();
  const Watch watch(notes);
  memory.gpu_data();
  CHECK(notes->copies.size() == 2);  // with that of the Release
  CHECK(notes->before.size() == 2);
}

TEST_CASE("Observers are asked of each copy of a call that needs the same bytes twice") {
  FullFixture f(2);
  Array<float> x(FullFixture::kBytes / sizeof(float), *f.device);
  Array<float> y(FullFixture::kBytes / sizeof(float), *f.device);
  const auto write = [&] {
    x.memory()->mutable_cpu_data();
    y.memory()->mutable_cpu_data();
  };
  write();
  f.meanwhile = write;  // one of them was copied already
  const auto notes = std::make_shared<Notes>();
  const Watch watch(notes);
  Axpy(Place(*f.device), 2.0F, x, y);
  CHECK(notes->copies.size() == 4);  // with that of the Release
  CHECK(notes->before.size() == 4);
}

TEST_CASE("A write that nobody watched hides earlier ones to its own bytes alone, and a read hides none") {
  sim::Reset({.seed = 1, .devices = 2});
  const std::unique_ptr<Device> device = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Stream stream(*device), there(*second);
  const auto notes = std::make_shared<Notes>();
  SyncedMemory memory(8, *device);
  {
    const Watch watch(notes);
    memory.mutable_cpu_data();
  }
  memory.gpu_data({0, 4}, stream);
  memory.mutable_cpu_data({0, 4});
  memory.gpu_data({4, 4}, there);
  const Watch watch(notes);
  memory.gpu_data({0, 4}, stream);
  memory.gpu_data({4, 4}, stream);
  REQUIRE(notes->copies.size() == 2);
  CHECK_FALSE(notes->copies[0].written.has_value());
  CHECK(notes->copies[1].written.has_value());
}

TEST_CASE("A write that nobody watched leaves no earlier one in its place") {
  ObserverFixture f;
  std::byte bytes[4]{};
  for (const bool adopts : {false, true}) {
    SyncedMemory memory(4, *f.device);
    {
      const Watch watch(f.notes);
      memory.mutable_cpu_data();
    }
    memory.gpu_data();
    adopts ? memory.set_cpu_data(bytes) : static_cast<void>(memory.mutable_cpu_data());
    const Watch watch(f.notes);
    f.notes->copies.clear();
    memory.gpu_data();
    REQUIRE(f.notes->copies.size() == 1);
    CHECK_FALSE(f.notes->copies[0].written.has_value());
  }
}

}  // namespace
}  // namespace ferry::testing
