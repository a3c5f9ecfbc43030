// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/statistics_device.hpp"

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ferry/pooled_device.hpp"
#include "tests/unit/probe_device.hpp"

using namespace ferry;
using ferry::testing::kMain;
using ferry::testing::ProbeDevice;
using enum MemoryKind;

namespace {

struct Counted {
  std::unique_ptr<ProbeDevice> owner = std::make_unique<ProbeDevice>();
  ProbeDevice& probe = *owner;
  StatisticsDevice device{std::move(owner)};
  std::vector<char> a = std::vector<char>(100), b = std::vector<char>(100);

  void Copy(CopyKind kind, std::size_t bytes) { device.Copy(kind, a.data(), b.data(), bytes, kMain); }
};

}  // namespace

TEST_CASE("Copies are counted by direction, fills apart") {
  Counted counted;
  counted.Copy(CopyKind::kHostToDevice, 10);
  counted.Copy(CopyKind::kHostToDevice, 20);
  counted.Copy(CopyKind::kDeviceToHost, 5);
  counted.Copy(CopyKind::kDeviceToDevice, 7);
  counted.device.Fill(counted.a.data(), std::byte{1}, 100, kMain);
  const Statistics seen = GetStatistics(counted.device);
  CHECK(seen.host_to_device.count == 2);
  CHECK(seen.host_to_device.bytes == 30);
  CHECK(seen.device_to_host.count == 1);
  CHECK(seen.device_to_host.bytes == 5);
  CHECK(seen.device_to_device.count == 1);
  CHECK(seen.device_to_device.bytes == 7);
  CHECK(seen.fills.count == 1);
  CHECK(seen.fills.bytes == 100);
  CHECK(seen.allocations.count == 0);
}

TEST_CASE("Live bytes fall when memory is given back, their peak does not") {
  Counted counted;
  void* const first = counted.device.Allocate(kDevice, 100, kMain);
  void* const second = counted.device.Allocate(kManaged, 50, kMain);
  counted.device.Deallocate(kDevice, first, 100, kMain);
  void* const third = counted.device.Allocate(kPinnedHost, 10, kMain);
  const Statistics seen = counted.device.statistics();
  CHECK(seen.allocations.count == 3);
  CHECK(seen.allocations.bytes == 160);
  CHECK(seen.live_bytes == 60);
  CHECK(seen.peak_bytes == 150);
  counted.device.Deallocate(kManaged, second, 50, kMain);
  counted.device.Deallocate(kPinnedHost, third, 10, kMain);
  CHECK(counted.device.statistics().live_bytes == 0);
}

TEST_CASE("What is given back twice leaves no live bytes, and not more than all") {
  Counted counted;
  void* const block = counted.device.Allocate(kDevice, 64, kMain);
  for (void* const again : {block, static_cast<void*>(nullptr)})
    counted.device.Deallocate(kDevice, again, 64, kMain);
  CHECK(GetStatistics(counted.device).live_bytes == 0);
}

TEST_CASE("A difference of statistics is what was done in between") {
  Counted counted;
  counted.Copy(CopyKind::kHostToDevice, 10);
  void* const block = counted.device.Allocate(kDevice, 100, kMain);
  const Statistics then = counted.device.statistics();
  counted.Copy(CopyKind::kHostToDevice, 20);
  counted.Copy(CopyKind::kDeviceToHost, 1);
  counted.Copy(CopyKind::kDeviceToDevice, 2);
  counted.device.Fill(counted.a.data(), std::byte{1}, 3, kMain);
  const Statistics since = counted.device.statistics() - then;
  CHECK(since.host_to_device.count == 1);
  CHECK(since.host_to_device.bytes == 20);
  CHECK(since.device_to_host.bytes == 1);
  CHECK(since.device_to_device.bytes == 2);
  CHECK(since.fills.bytes == 3);
  CHECK(since.allocations.count == 0);
  CHECK(since.live_bytes == 100);
  CHECK(since.peak_bytes == 100);
  counted.device.Deallocate(kDevice, block, 100, kMain);
}

TEST_CASE("Calls that throw are not counted") {
  Counted counted;
  counted.probe.room = 0;
  CHECK_THROWS_AS(counted.device.Allocate(kDevice, 10, kMain), OutOfMemory);
  counted.probe.failing = "Copy";
  CHECK_THROWS_AS(counted.Copy(CopyKind::kDeviceToHost, 10), DeviceError);
  counted.probe.failing = "Fill";
  CHECK_THROWS_AS(counted.device.Fill(counted.a.data(), std::byte{1}, 3, kMain), DeviceError);
  const Statistics seen = counted.device.statistics();
  CHECK(seen.allocations.count + seen.device_to_host.count + seen.fills.count == 0);
  CHECK(seen.live_bytes + seen.peak_bytes == 0);
}

TEST_CASE("GetStatistics finds the counting device inside a stack, and says where there is none") {
  auto counted = std::make_unique<StatisticsDevice>(std::make_unique<host::HostDevice>());
  counted->Fill(std::vector<char>(8).data(), std::byte{0}, 8, kMain);
  const PooledDevice stack(std::make_unique<ForwardingDevice>(std::move(counted)));
  CHECK(GetStatistics(stack).fills.bytes == 8);

  const ForwardingDevice none(std::make_unique<host::HostDevice>());
  try {
    GetStatistics(none);
    FAIL("no error");
  } catch (const std::logic_error& error) {
    CHECK(std::string(error.what()) == "GetStatistics: no StatisticsDevice around device host:0");
  }
}

TEST_CASE("Threads lose no count") {
  StatisticsDevice device(std::make_unique<host::HostDevice>());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) {
        void* const block = device.Allocate(kDevice, 16, kMain);
        device.Fill(block, std::byte{1}, 16, kMain);
        device.Deallocate(kDevice, block, 16, kMain);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Statistics seen = device.statistics();
  CHECK(seen.allocations.count == 4000);
  CHECK(seen.fills.bytes == 64'000);
  CHECK(seen.live_bytes == 0);
  CHECK(seen.peak_bytes >= 16);
  CHECK(seen.peak_bytes <= 64);
}
