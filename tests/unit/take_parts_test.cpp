// SPDX-License-Identifier: BSD-2-Clause
// What a call's operands must do beyond take_test.cpp: all or none, and only the bytes of their ranges.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <vector>

#include "ferry/detail/take.hpp"
#include "tests/unit/synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using detail::Request;
using detail::Take;

/// Three memories whose bytes are on one side, and a call on the other that overwrites, reads and changes.
struct Three {
  LogDevice device;
  const Stream main = Stream::Main(device);
  const Stream* const on;
  std::array<SyncedMemory, 3> memories = {SyncedMemory(4, device, "overwritten"),
                                          SyncedMemory(4, device, "read"),
                                          SyncedMemory(4, device, "changed")};
  Head home;

  explicit Three(bool cpu) : on(cpu ? nullptr : &main), home(cpu ? Head::HEAD_AT_GPU : Head::HEAD_AT_CPU) {
    for (SyncedMemory& memory : memories) {
      std::memset(memory.overwrite_cpu_data(), 7, 4);
      if (cpu) memory.mutable_gpu_data();
    }
    device.Take();
  }
  void TakeIn(const std::array<std::size_t, 3>& order) {
    constexpr Access kAccesses[] = {Access::kOverwrite, Access::kRead, Access::kReadWrite};
    std::array<Request, 3> requests{};
    std::array<void*, 3> ptrs{};
    for (std::size_t i = 0; i < 3; ++i) requests[i] = {&memories[order[i]], {}, kAccesses[order[i]]};
    Take(requests, on, ptrs);
  }
};

TEST_CASE("A call takes all its operands or none, in every order and with a fault at each call") {
  const bool cpu = GENERATE(false, true), after = GENERATE(false, true);
  std::array<std::size_t, 3> order = {0, 1, 2};
  do {
    int faults = 0;
    for (int nth = 1;; ++nth) {
      CAPTURE(cpu, after, order[0], order[1], order[2], nth);
      Three three(cpu);
      three.device.FailAt(nth, after);
      try {
        three.TakeIn(order);
        break;
      } catch (const DeviceError&) {
        ++faults;
      }
      three.device.FailAt(0);
      const Side home = cpu ? Side::kGpu : Side::kCpu;
      for (const SyncedMemory& memory : three.memories) CHECK(Holds(memory.head(), home));
      CHECK(three.memories[0].head() == three.home);
      three.TakeIn(order);
      const Head there = cpu ? Head::HEAD_AT_CPU : Head::HEAD_AT_GPU;
      CHECK(three.memories[0].head() == there);
      CHECK(three.memories[1].head() == Head::SYNCED);
      CHECK(three.memories[2].head() == there);
      CHECK(Bytes(three.memories[1].cpu_data(), 4) == std::vector<int>(4, 7));
      CHECK(Bytes(three.memories[2].cpu_data(), 4) == std::vector<int>(4, 7));
    }
    CHECK(faults > 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("The bytes of what was not taken are as they were") {
  const bool cpu = GENERATE(false, true);
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    Three three(cpu);
    three.device.FailAt(nth);
    try {
      three.TakeIn({0, 1, 2});
      break;
    } catch (const DeviceError&) {
      three.device.FailAt(0);
    }
    for (const SyncedMemory& memory : three.memories)
      CHECK(Bytes(memory.cpu_data(), 4) == std::vector<int>(4, 7));
  }
}

TEST_CASE("An operand moves its own bytes and no others") {
  LogDevice device;
  const Stream main = Stream::Main(device);
  SyncedMemory x(8, device, "x");
  std::memset(x.overwrite_cpu_data(), 7, 8);
  x.gpu_data();
  static_cast<unsigned char*>(x.mutable_cpu_data())[0] = 9;  // the device's bytes are stale
  device.Take();
  const auto copies = [&] {
    Calls calls = device.Take();
    std::erase_if(calls, [](const std::string& call) {
      return call.find(" device ") == std::string::npos && call.find(" host ") == std::string::npos;
    });
    return calls;
  };
  void* ptrs[2];
  SECTION("A read copies its range") {
    const Request read[] = {{&x, {2, 3}, Access::kRead}};
    Take(read, &main, std::span(ptrs).first(1));
    CHECK(copies() == Calls{"to device 3 on main"});
    Take(read, &main, std::span(ptrs).first(1));
    CHECK(copies().empty());
  }
  SECTION("An overwritten range is not copied, and the bytes beside it stay where they are") {
    const Request overwrite[] = {{&x, {2, 3}, Access::kOverwrite}};
    Take(overwrite, &main, std::span(ptrs).first(1));
    CHECK(copies().empty());
    device.Launch([ptr = ptrs[0]] { std::memset(ptr, 5, 3); });
    CHECK(Bytes(x.cpu_data(), 8) == std::vector<int>{9, 7, 5, 5, 5, 7, 7, 7});
    CHECK(copies() == Calls{"to host 3 on main"});
  }
  SECTION("Neighbours that both read are one copy, and one that overwrites between them is left out") {
    const Request both[] = {{&x, {0, 4}, Access::kRead}, {&x, {4, 4}, Access::kReadWrite}};
    Take(both, &main, ptrs);
    CHECK(copies().size() <= 2);
    CHECK(x.head() == Head::HEAD_AT_GPU);
  }
}

}  // namespace
}  // namespace ferry::testing
