// SPDX-License-Identifier: BSD-2-Clause
// Calls that fail, and what is told of those that do not.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <optional>
#include <string>

#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/observer.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_kernels.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using enum Head;

struct ErrorFixture {
  ErrorFixture() { memory.emplace(4, device), device.Take(); }
  LogDevice device;
  Stream main = Stream::Main(device), a{device}, b{device};
  std::optional<SyncedMemory> memory;
};

TEST_CASE("a write after a read that failed half-way, with the host's bytes there, leaves them stale") {
  sim::Reset({.devices = 2, .peers = false, .fail_at = 2, .fail_call = "MemcpyAsync"});
  SimDevice first{0}, second{1};
  SyncedMemory memory(kBytes, first);
  const Stream on = Stream::Main(first);
  Fill(memory, on, 7);
  CHECK_THROWS_AS(memory.gpu_data(Stream::Main(second)), DeviceError);  // by way of the host
  CHECK(memory.head() == SyncedMemory::SYNCED);
  Fill(memory, on, 8);
  CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 8);
}

TEST_CASE("an access that failed can be made again, wherever it failed") {
  for (const bool late : {false, true})
    for (int nth = 1; nth <= 8; ++nth) {
      ErrorFixture f;
      void* const mine = f.memory->overwrite_gpu_data(f.a);
      f.device.Launch([mine] { std::memset(mine, 7, 4); });
      f.memory->gpu_data(f.b);
      f.device.FailAt(nth, late);
      const auto try_twice = [](auto access) {
        try {
          return access();
        } catch (const DeviceError&) {
          return access();
        }
      };
      CHECK(Bytes(try_twice([&] { return f.memory->cpu_data(); }), 4) == std::vector{7, 7, 7, 7});
      std::memset(try_twice([&] { return f.memory->mutable_cpu_data(); }), 8, 4);
      const void* const gpu = try_twice([&] { return f.memory->gpu_data(f.main); });
      f.device.FailAt(0);
      f.device.RunAll();
      CHECK(Bytes(gpu, 4) == std::vector{8, 8, 8, 8});
      f.memory.reset();
      CHECK(f.device.live() == 2);  // our two streams
    }
}

TEST_CASE("an access that failed takes no side away, and keeps what it has started") {
  ErrorFixture f;
  f.memory->overwrite_gpu_data(f.a);
  f.device.FailAt(1);  // the allocation
  CHECK_THROWS_AS(f.memory->mutable_cpu_data(), DeviceError);
  CHECK(f.memory->head() == HEAD_AT_GPU);
  f.device.FailAt(4);  // the host's wait, after the allocation, the copy and its event
  CHECK_THROWS_AS(f.memory->mutable_cpu_data(), DeviceError);
  CHECK(f.memory->head() == SYNCED);
  f.device.Take();
  f.memory->mutable_cpu_data();
  CHECK(f.device.Take() == Calls{"host waits for e1"});
  CHECK(f.memory->head() == HEAD_AT_CPU);
}

TEST_CASE("a copy whose event fails is waited for with what is queued behind it") {
  bool ran = false;  // before the device, whose end runs what is queued
  ErrorFixture f;
  f.memory->overwrite_cpu_data();
  f.device.FailAt(3);  // after the allocation and the copy
  f.memory->gpu_data(f.a);
  f.device.Launch([&ran] { ran = true; });
  f.device.Take();
  f.memory->overwrite_cpu_data();
  CHECK(f.device.Take() == Calls{"record e1 on s1", "host waits for e1"});
  CHECK(ran);
}

TEST_CASE(
    "the destructor waits with the whole stream where events fail, and survives a driver that is gone") {
  ErrorFixture f;
  f.memory->overwrite_gpu_data(f.a), f.memory->gpu_data(f.b);
  f.device.FailAt(1);
  f.device.Take();
  f.memory.reset();
  CHECK(f.device.Take() == Calls{"record e2 on s1", "synchronize s1", "deallocate device 4 on s2"});
  f.memory.emplace(4, f.device);
  f.memory->overwrite_gpu_data(f.a), f.memory->gpu_data(f.b), f.memory->cpu_data();
  f.device.Fail();
  f.memory.reset();
  CHECK(f.device.live() == 2);
}

TEST_CASE("a stream that has ended is not taken for another one with its handle") {
  ErrorFixture f;
  std::optional<Stream> c(f.device);
  f.memory->overwrite_gpu_data(f.b);
  f.memory->gpu_data(*c);
  const StreamHandle was = c->handle();
  c.reset();
  const Stream next(f.device);
  REQUIRE(next.handle() == was);
  f.device.Take();
  f.memory->gpu_data(next);
  CHECK_FALSE(f.device.Take().empty());
}

TEST_CASE("a stream whose last point cannot be recorded is waited for as it ends") {
  ErrorFixture f;
  std::optional<Stream> c(f.device);
  f.memory->overwrite_gpu_data(f.b);
  f.memory->gpu_data(*c);
  f.device.FailAt(1);
  f.device.Take();
  c.reset();
  CHECK(f.device.Take() == Calls{"record e2 on s3", "synchronize s3", "destroy s3"});
  f.memory->overwrite_gpu_data(f.b);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a reader on the fast path is waited for though a write failed before, wherever it failed") {
  bool failed = true;
  for (int nth = 1; failed; ++nth) {
    ErrorFixture f;
    SyncedMemory other(4, f.device);
    other.overwrite_gpu_data();
    unsigned char mine[4];
    f.memory->set_cpu_data(mine);
    f.memory->overwrite_gpu_data(f.a);
    f.memory->Prefetch(Side::kCpu, f.a);
    f.device.FailAt(3);  // the event on a, the main stream's wait for it, and the copy
    CHECK_THROWS_AS(f.memory->Assign(other, 4), DeviceError);
    f.memory->gpu_data(f.b);  // does not wait on the host for a copy to bytes that have one on its way
    f.memory->cpu_data();
    f.device.FailAt(nth);
    try {
      f.memory->mutable_gpu_data(f.a);
      failed = false;
    } catch (const DeviceError&) {
    }
    f.device.FailAt(0);
    f.memory->gpu_data(f.b);
    f.device.Take();
    f.memory->mutable_gpu_data(f.a);
    const Calls calls = f.device.Take();
    CHECK(std::any_of(calls.begin(), calls.end(), [](const std::string& call) {
      return call.starts_with("record") && call.ends_with("on s2");
    }));
  }
}

TEST_CASE("an error of the device has the memory's label, whichever call fails") {
  struct Memories {
    SyncedMemory target, source;
    std::array<unsigned char, 4>& mine;
  };
  using Work = void (*)(Memories&);
  const Work works[] = {[](Memories& of) { of.target.cpu_data(); },
                        [](Memories& of) { of.target.Assign(of.source, 4); },
                        [](Memories& of) { of.target.set_gpu_data(of.mine.data()); },
                        [](Memories& of) { of.target.Release(Side::kGpu); }};
  for (const Work& work : works) {
    int failed = 0;
    for (int nth = 1; nth <= 6; ++nth) {
      CAPTURE(&work - works, nth);
      std::array<unsigned char, 4> mine{};
      LogDevice device;
      const Stream on(device);
      Memories memories{SyncedMemory(4, device, "weights"), SyncedMemory(4, device, "weights"), mine};
      memories.target.overwrite_gpu_data(on), memories.source.overwrite_gpu_data(on);
      device.FailAt(nth);
      try {
        work(memories);
      } catch (const DeviceError& error) {
        ++failed;
        CHECK(std::string(error.what()) == "LogDevice: asked to fail (1), in an access of \"weights\"");
      }
      device.FailAt(0);
    }
    CHECK(failed != 0);
  }
}

struct Observed {
  std::vector<AccessRecord> records;
  Watch watch{[this](const AccessRecord& record) { records.push_back(record); }};
};

TEST_CASE("an observer sees each access that did not find its bytes in place") {
  ErrorFixture f;
  const Observed observed;
  f.memory->cpu_data(), f.memory->cpu_data();
  f.memory->mutable_gpu_data();
  f.memory->Prefetch(Side::kCpu, f.a);
  f.memory->overwrite_cpu_data();
  const auto& seen = observed.records;
  REQUIRE(seen.size() == 4);
  const auto is = [&](const AccessRecord& record, Head before, Side side, Access access, Action action,
                      std::size_t bytes, Head after) {
    return record.memory == &*f.memory && record.before == before && record.side == side &&
           record.access == access && record.action == action && record.bytes == bytes &&
           record.after == after;
  };
  CHECK(is(seen[0], UNINITIALIZED, Side::kCpu, Access::kRead, Action::kZero, 4, HEAD_AT_CPU));
  CHECK(is(seen[1], HEAD_AT_CPU, Side::kGpu, Access::kReadWrite, Action::kCopy, 4, HEAD_AT_GPU));
  CHECK(is(seen[2], HEAD_AT_GPU, Side::kCpu, Access::kRead, Action::kCopy, 4, SYNCED));
  CHECK(is(seen[3], SYNCED, Side::kCpu, Access::kOverwrite, Action::kNone, 0, HEAD_AT_CPU));
}

TEST_CASE("an observer sees the bytes that a grown memory moves or zeroes, each once") {
  ErrorFixture f;
  f.memory->overwrite_cpu_data();
  f.memory->Resize(1), f.memory->Resize(4);
  const Observed observed;
  f.memory->Prefetch(Side::kCpu, f.a);  // no stream has work to start
  f.memory->cpu_data();
  REQUIRE(observed.records.size() == 1);
  CHECK(observed.records[0].action == Action::kZero);
  CHECK(observed.records[0].bytes == 3);
}

TEST_CASE("an observer sees a copy that a tail of zeros follows as the copy") {
  ErrorFixture f;
  f.memory->overwrite_cpu_data();
  f.memory->Resize(1), f.memory->Resize(4);
  const Observed observed;
  f.memory->gpu_data();
  REQUIRE(observed.records.size() == 1);
  CHECK(observed.records[0].action == Action::kCopy);
  CHECK(observed.records[0].bytes == 1);
}

TEST_CASE("an observer sees the bytes of all copies of an access, and of all its zeros") {
  ErrorFixture copies, zeros;
  copies.memory->overwrite_gpu_data();
  copies.memory->overwrite_cpu_data({0, 1}), copies.memory->overwrite_cpu_data({2, 1});
  zeros.memory->overwrite_cpu_data({1, 1});
  const Observed observed;
  copies.memory->gpu_data(), zeros.memory->cpu_data();
  REQUIRE(observed.records.size() == 2);
  CHECK((observed.records[0].action == Action::kCopy && observed.records[0].bytes == 2));
  CHECK((observed.records[1].action == Action::kZero && observed.records[1].bytes == 3));
}

TEST_CASE("an observer that throws fails no access") {
  ErrorFixture f;
  const Watch watch([](const AccessRecord&) { throw 1; });
  CHECK_NOTHROW(f.memory->cpu_data());
}

TEST_CASE("the log has a line for each access at trace, and none above") {
  ErrorFixture f;
  const LogLevel level = log_level();
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  SetLogLevel(LogLevel::kDebug);
  f.memory->overwrite_cpu_data();
  SetLogLevel(LogLevel::kTrace);
  f.memory->gpu_data(), f.memory->gpu_data();
  SetLogLevel(level);
  SetLogSink({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("HEAD_AT_CPU, gpu read -> copy 4 bytes, SYNCED") != std::string::npos);
}

}  // namespace
}  // namespace ferry::testing
