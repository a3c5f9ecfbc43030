// SPDX-License-Identifier: BSD-2-Clause
// What outlives its device says so, and asks nothing of it.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/device/name.hpp"
#include "ferry/backend.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"
#include "tests/log_lines.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kBytes = 64;

std::string MemoryText(const std::string& name, const std::string& device, const Site& site) {
  return "the memory " + name + " of 64 bytes outlives its device " + device +
         ": what it holds, allocated by " + Name(site) +
         ", is not given back. Destroy it before the device, or make it on one of GetDevice, "
         "which stays";
}

TEST_CASE("a memory that outlives its device says so, and gives nothing back") {
  LogLines errors(LogLevel::kError);
  const bool labelled = GENERATE(true, false);
  auto device = std::make_unique<LogDevice>();
  auto memory = std::make_unique<SyncedMemory>(kBytes, *device, labelled ? "x" : "");
  bool freed = false;
  char bytes[kBytes] = {};
  memory->set_cpu_data(bytes, [&](void*) { freed = true; });
  const Site site = Site::Caller();
  memory->gpu_data(Stream(*device), site);
  device.reset();
  CHECK(errors.Take().empty());
  memory.reset();
  CHECK(errors.Take() == std::vector{MemoryText(labelled ? "\"x\"" : "without a label", "log:0", site)});
  CHECK_FALSE(freed);
}

TEST_CASE("a stream that outlives its device says so, and so does an event, once a device") {
  LogLines errors(LogLevel::kError);
  auto device = std::make_unique<LogDevice>();
  std::optional<Stream> stream(Stream(*device, Site::Caller("a.cpp", 5, "Step"))), other(*stream);
  std::optional<Event> event(*stream);
  SECTION("a stream") {
    event.reset();
    device.reset();
    stream.reset();
    CHECK(errors.Take().empty());
    other.reset();
    CHECK(errors.Take() ==
          std::vector<std::string>{"a stream, made by Step (a.cpp:5), outlives its device log:0, "
                                   "and is not given back. Destroy it before the device"});
  }
  SECTION("an event") {
    stream.reset(), other.reset();
    std::optional<Event> second(*event);
    second.emplace(Stream::Main(*device));
    device.reset();
    event.reset(), second.reset();
    CHECK(errors.Take() == std::vector<std::string>{"an event outlives its device log:0, and is not given "
                                                    "back. Destroy it before the device"});
  }
}

TEST_CASE("a memory outlives each device that it has been on") {
  LogLines errors(LogLevel::kError);
  LogDevice stays;
  auto other = std::make_unique<LogDevice>();
  auto memory = std::make_unique<SyncedMemory>(kBytes, stays, "x");
  const Site site = Site::Caller();
  memory->gpu_data(Stream::Main(*other), site);
  stays.Take();
  other.reset();
  memory.reset();
  CHECK(errors.Take() == std::vector{MemoryText("\"x\"", "log:0", site)});
  CHECK(stays.Take() == Calls{});
  { SyncedMemory(kBytes, stays).gpu_data(); }
  CHECK(errors.Take().empty());
}

TEST_CASE("a memory does not outlive a device that it has only been released from") {
  LogLines errors(LogLevel::kError);
  LogDevice stays;
  auto other = std::make_unique<LogDevice>();
  {
    SyncedMemory memory(kBytes, stays, "x");
    memory.gpu_data();
    memory.Release(*other);
    other.reset();
  }
  CHECK(errors.Take().empty());
}

TEST_CASE("what outlives its device keeps no simulated machine") {
  LogLines errors(LogLevel::kError);
  sim::Reset();
  auto device = MakeDevice("sim");
  std::optional<SyncedMemory> memory(std::in_place, kBytes, *device);
  std::optional<Stream> stream(std::in_place, *device);
  CHECK_THROWS_AS(sim::Reset(), std::logic_error);
  device.reset();
  CHECK_NOTHROW(sim::Reset());
  errors.Take();
  stream.reset(), memory.reset();
  CHECK(errors.Take().size() == 2);
}

TEST_CASE("a device's number does not come again while something outlives it") {
  LogLines errors(LogLevel::kError);
  auto device = std::make_unique<LogDevice>();
  const auto serial = device->serial();
  std::optional<SyncedMemory> memory(std::in_place, kBytes, *device);
  device.reset();
  device = std::make_unique<LogDevice>();
  CHECK(device->serial() != serial);
  memory.reset();
  CHECK(errors.Take().size() == 1);
  CHECK(LogDevice().serial() == serial);
  {
    const SyncedMemory other(kBytes, *device);
    const Stream stream(*device);
    const Event event(stream);
  }
  CHECK(errors.Take().empty());
}

TEST_CASE("each memory of a device that has gone says so, and a new device of its number starts anew") {
  LogLines errors(LogLevel::kError);
  for (int round = 0; round < 2; ++round) {
    auto device = std::make_unique<LogDevice>();
    std::optional<SyncedMemory> one(std::in_place, kBytes, *device), two(std::in_place, kBytes, *device);
    std::optional<Event> event(Stream::Main(*device));
    device.reset();
    event.reset();
    one.reset(), two.reset();
    CHECK(errors.Take().size() == 3);
  }
}

}  // namespace
}  // namespace ferry::testing
