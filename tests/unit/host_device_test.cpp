// SPDX-License-Identifier: BSD-2-Clause
#include "backends/host/host_device.hpp"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include "ferry/stream.hpp"
#include "synced_memory_device.hpp"

using namespace ferry;
using enum MemoryKind;

namespace {

constexpr StreamHandle kMainStream{1};

std::size_t ResidentBytes() {
  std::size_t mapped = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("The host is one unified memory, and says what machine it is") {
  const host::HostDevice device;
  const DeviceProperties& properties = device.properties();
  CHECK(properties.backend == "host");
  CHECK(properties.unified);
  CHECK(properties.launch == nullptr);
  CHECK_FALSE(properties.name.empty());
  CHECK(properties.memory > ResidentBytes());
  CHECK(properties.main_stream == kMainStream);
}

TEST_CASE("Host memory is aligned to 64 bytes") {
  host::HostDevice device;
  for (const std::size_t bytes : {1U, 63U, 64U, 1000U, 1U << 20}) {
    void* const block = device.Allocate(kManaged, bytes, kMainStream);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    device.Deallocate(kManaged, block, bytes, kMainStream);
  }
}

TEST_CASE("A large host block takes no memory before it is written") {
  constexpr std::size_t kLarge = std::size_t{256} << 20;
  host::HostDevice device;
  const std::size_t before = ResidentBytes();
  void* const block = device.Allocate(kManaged, kLarge, kMainStream);
  CHECK(ResidentBytes() < before + kLarge / 4);
  device.Deallocate(kManaged, block, kLarge, kMainStream);
}

TEST_CASE("What is queued on the host is done when the call returns") {
  host::HostDevice device;
  char source[] = "done", target[] = "----";
  device.Copy(CopyKind::kDeviceToDevice, target, source, 4, kMainStream);
  CHECK(std::strcmp(target, "done") == 0);
  device.Fill(target, std::byte{'x'}, 2, device.CreateStream());
  CHECK(std::strcmp(target, "xxne") == 0);
}

TEST_CASE("Host events measure the time of the call, and no two have one handle") {
  host::HostDevice device;
  std::set<EventHandle> handles;
  const EventHandle first = device.RecordMeasuring(kMainStream);
  EventHandle last{};
  for (int i = 0; i < 1000; ++i) {
    last = device.RecordMeasuring(kMainStream);
    handles.insert({last, device.Record(kMainStream)});
  }
  CHECK(handles.size() == 2000);
  const std::int64_t so_far = device.Elapsed(first, last);
  CHECK(so_far >= 1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  CHECK(device.Elapsed(last, device.RecordMeasuring(kMainStream)) >= 3'000'000);
  CHECK(device.Elapsed(first, last) == so_far);
}

TEST_CASE("Events of two devices have no time between them") {
  host::HostDevice device, other;
  const Event from = Event::Measuring(Stream::Main(device)), to = Event::Measuring(Stream::Main(other));
  CHECK_THROWS_WITH(Elapsed(from, to), Catch::Matchers::ContainsSubstring("each has a clock of its own"));
  CHECK_THROWS_AS(Elapsed(from, to), std::logic_error);
}

TEST_CASE("A device without a clock says so") {
  testing::LogDevice device;
  CHECK_THROWS_AS(Event::Measuring(Stream::Main(device)), std::logic_error);
  CHECK_THROWS_WITH(Event::Measuring(Stream::Main(device)), "Device::RecordMeasuring: log:0 has no clock");
}
