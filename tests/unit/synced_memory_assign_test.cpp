// SPDX-License-Identifier: BSD-2-Clause
// Assign: where it copies, what waits for what, and what is left when a call fails.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "ferry/error.hpp"
#include "ferry/observer.hpp"
#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using enum Head;

/// A source of sevens and a destination of threes, each at `head`.
struct AssignFixture {
  explicit AssignFixture(Head from = UNINITIALIZED, Head to = UNINITIALIZED, bool unified = false)
      : device(unified), source(4, device), target(4, device) {
    Write(source, 7, from), Write(target, 3, to);
    device.Take();
  }
  void Write(SyncedMemory& memory, int value, Head head) {
    if (head == HEAD_AT_CPU) std::memset(memory.overwrite_cpu_data(), value, 4);
    if (head == HEAD_AT_GPU || head == SYNCED) {
      void* const ptr = memory.overwrite_gpu_data(a);
      device.Launch([=] { std::memset(ptr, value, 4); });
    }
    if (head == SYNCED) memory.cpu_data();
  }
  std::vector<int> Cpu() { return Bytes(target.cpu_data(), target.size()); }
  /// As a kernel on stream b sees them.
  std::vector<int> Gpu() {
    const void* const ptr = target.gpu_data(b);
    device.RunAll();
    return Bytes(ptr, target.size());
  }
  LogDevice device;
  Stream a{device}, b{device};
  SyncedMemory source, target;
};

constexpr Head kHeads[] = {UNINITIALIZED, HEAD_AT_CPU, HEAD_AT_GPU, SYNCED};

/// Assigns as many bytes as it says, from and to each state, and looks at either side first.
void CheckAssign(SyncedMemory::Rest rest) {
  for (const bool unified : {false, true})
    for (const bool cpu_first : {false, true})
      for (const Head from : kHeads)
        for (const Head to : kHeads)
          for (const std::size_t size : {0U, 1U, 4U}) {
            AssignFixture f(from, to, unified);
            f.target.Assign(f.source, size, rest);
            std::vector expected(4, to == UNINITIALIZED ? 0 : 3);
            std::fill_n(expected.begin(), size, from == UNINITIALIZED ? 0 : 7);
            if (rest == SyncedMemory::Rest::kDropped) expected.resize(size);
            CHECK((cpu_first ? f.Cpu() : f.Gpu()) == expected);
            CHECK((cpu_first ? f.Gpu() : f.Cpu()) == expected);
            if (rest == SyncedMemory::Rest::kDropped || from != UNINITIALIZED) CHECK(f.source.head() == from);
          }
}

TEST_CASE("Assign brings the source's bytes to either side, wherever the two memories were") {
  CheckAssign(SyncedMemory::Rest::kDropped);
}

TEST_CASE("Assign keeps the rest of its own bytes where it is asked to") {
  CheckAssign(SyncedMemory::Rest::kKept);
}

TEST_CASE("Assign from the cpu alone makes a copy on the cpu alone, and the device sees nothing of it") {
  AssignFixture f(HEAD_AT_CPU, HEAD_AT_CPU);
  f.target.Assign(f.source, 4);
  CHECK(f.device.Take().empty());
  CHECK(f.target.head() == HEAD_AT_CPU);
}

TEST_CASE("Assign from the gpu or both sides copies on the main stream, after both memories' uses") {
  for (const Head from : {HEAD_AT_GPU, SYNCED}) {
    AssignFixture f(from, HEAD_AT_GPU);
    f.target.gpu_data(f.b);
    f.device.Take();
    f.target.Assign(f.source, 3);
    int to_main = 0;
    const Calls calls = f.device.Take();
    for (const auto& call : calls) {
      CHECK(call.find("host waits") != 0);
      CHECK(call.find("synchronize") != 0);
      to_main += call.find("main waits for") == 0;
    }
    CHECK(to_main == 3);  // for the two writers on a and the target's reader on b
    CHECK(calls.back() == "within device 3 on main");
    CHECK(f.target.head() == HEAD_AT_GPU);
  }
}

TEST_CASE("what comes after Assign on another stream waits for its copy") {
  AssignFixture f(HEAD_AT_GPU);
  f.target.Assign(f.source, 4);
  f.device.Take();
  f.target.gpu_data(f.b);
  const Calls reader = f.device.Take();
  REQUIRE(reader.size() == 2);
  CHECK(reader[1].find("s2 waits for") == 0);
  f.source.overwrite_gpu_data(f.b);
  bool for_copy = false;
  for (const auto& call : f.device.Take())
    for_copy |= call.find("record") == 0 && call.find("on main") != std::string::npos;
  CHECK(for_copy);
}

TEST_CASE("Assign from another device goes by way of the host") {
  for (const Head from : {HEAD_AT_CPU, HEAD_AT_GPU, SYNCED}) {
    AssignFixture f(from), other(UNINITIALIZED, HEAD_AT_GPU);
    other.target.Assign(f.source, 4);
    CHECK(other.target.head() == HEAD_AT_CPU);
    CHECK(other.Gpu() == std::vector{7, 7, 7, 7});
  }
}

TEST_CASE("Assign goes by the host where a unified device was given the bytes of either memory") {
  for (const bool given_to_source : {false, true}) {
    AssignFixture f(SYNCED, SYNCED, true);
    unsigned char mine[4] = {5, 5, 5, 5};
    SyncedMemory& taker = given_to_source ? f.source : f.target;
    taker.set_cpu_data(mine);
    taker.gpu_data();
    f.device.Take();
    f.target.Assign(f.source, 4);
    for (const auto& call : f.device.Take()) CHECK(call.find("within") != 0);
    CHECK(f.Cpu() == std::vector(4, given_to_source ? 5 : 7));
    CHECK(f.Gpu() == std::vector(4, given_to_source ? 5 : 7));
  }
}

TEST_CASE("Assign within the capacity changes the size, and beyond it changes nothing") {
  AssignFixture f(HEAD_AT_GPU, HEAD_AT_GPU);
  SyncedMemory large(8, f.device);
  large.overwrite_gpu_data(f.a);
  f.target.Assign(f.source, 2);
  CHECK(f.target.size() == 2);
  f.device.Take();
  CHECK_THROWS_MATCHES(f.target.Assign(large, 5), std::length_error,
                       Message("SyncedMemory::Assign: 5 bytes in a capacity of 4, which is the most; make a "
                               "larger memory"));
  CHECK_THROWS_MATCHES(large.Assign(f.source, 5), std::length_error,
                       Message("SyncedMemory::Assign: 5 bytes of a source that has 4; its size is the most"));
  CHECK(f.device.Take().empty());
  CHECK(f.Cpu() == std::vector{7, 7});
  f.target.Assign(f.source, 4);
  CHECK(f.Cpu() == std::vector{7, 7, 7, 7});
}

TEST_CASE("Assign takes no more bytes than its source has, whatever the source's capacity") {
  LogDevice device;
  SyncedMemory source(8, device), target(8, device);
  std::memset(source.overwrite_cpu_data(), 3, 8);
  source.Resize(4);
  CHECK_THROWS_AS(target.Assign(source, 5), std::length_error);
  CHECK(target.head() == SyncedMemory::UNINITIALIZED);
  CHECK_NOTHROW(target.Assign(source, 4));
  CHECK(Bytes(target.cpu_data(), 4) == std::vector<int>(4, 3));
}

TEST_CASE("an Assign that failed at any call leaves the bytes that are promised, and a retry works") {
  for (const bool unified : {false, true})
    for (const bool late : {false, true})
      for (const bool retry : {false, true})
        for (const Head from : {HEAD_AT_CPU, HEAD_AT_GPU, SYNCED})
          for (const Head to : kHeads) {
            bool failed = true;
            for (int nth = 1; failed; ++nth) {
              AssignFixture f(from, to, unified);
              failed = false;
              f.device.FailAt(nth, late);
              try {
                f.target.Assign(f.source, 3);
              } catch (const DeviceError&) {
                failed = true;
              }
              f.device.FailAt(0);
              if (failed && retry) f.target.Assign(f.source, 3);
              const bool only_copy = late && (unified || to == HEAD_AT_GPU);
              if (failed && !retry && only_copy && to != UNINITIALIZED) continue;
              const std::vector expected =
                  failed && !retry ? std::vector(4, to == UNINITIALIZED ? 0 : 3) : std::vector(3, 7);
              CHECK(f.Gpu() == expected);
              CHECK(f.Cpu() == expected);
            }
          }
}

TEST_CASE("after an Assign whose copy failed, the stream that last had the bytes is noted again") {
  AssignFixture f(HEAD_AT_GPU, HEAD_AT_GPU);
  f.source.gpu_data(), f.target.gpu_data(f.a);
  f.device.FailAt(3);  // the event on a, the main stream's wait for it, and the copy
  CHECK_THROWS_AS(f.target.Assign(f.source, 4), DeviceError);
  f.device.Take();
  f.target.gpu_data(f.a);
  CHECK_FALSE(f.device.Take().empty());
  f.target.overwrite_gpu_data(f.b);
  int waits = 0;
  for (const auto& call : f.device.Take()) waits += call.find("s2 waits for") == 0;
  CHECK(waits == 2);  // for the failed copy, and for the reader on a
}

TEST_CASE("after an Assign whose copy failed late on a unified device, the host waits for it") {
  AssignFixture f(HEAD_AT_GPU, HEAD_AT_CPU, true);
  f.target.cpu_data(), f.source.gpu_data();
  f.device.FailAt(1, true);
  CHECK_THROWS_AS(f.target.Assign(f.source, 4), DeviceError);
  f.device.Take();
  f.target.cpu_data();
  CHECK_FALSE(f.device.Take().empty());
}

TEST_CASE("a failed Assign takes no side away from a unified device's one buffer") {
  AssignFixture f(HEAD_AT_GPU, SYNCED, true);
  f.source.gpu_data();
  f.target.set_label("x");
  f.device.FailAt(1);
  CHECK_THROWS_MATCHES(f.target.Assign(f.source, 4), DeviceError,
                       MessageMatches(EndsWith(", in an access of \"x\"")));
  CHECK(f.target.head() == SYNCED);
}

TEST_CASE("an observer sees Assign as an overwrite of the side that it copies on") {
  for (const bool gpu : {false, true}) {
    AssignFixture f(gpu ? HEAD_AT_GPU : HEAD_AT_CPU, SYNCED);
    std::vector<AccessRecord> records;
    const Watch watch([&](const AccessRecord& record) {
      if (record.memory == &f.target) records.push_back(record);
    });
    f.target.Assign(f.source, 4);
    REQUIRE(records.size() == 1);
    CHECK(records[0].side == (gpu ? Side::kGpu : Side::kCpu));
    CHECK(records[0].access == Access::kOverwrite);
    CHECK(records[0].before == SYNCED);
    CHECK(records[0].after == (gpu ? HEAD_AT_GPU : HEAD_AT_CPU));
  }
}

}  // namespace
}  // namespace ferry::testing
