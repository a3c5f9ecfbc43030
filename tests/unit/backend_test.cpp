// SPDX-License-Identifier: BSD-2-Clause
#include "core/device/backend.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/host/host_device.hpp"
#include "core/device/name.hpp"
#include "ferry/checked_device.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/statistics_device.hpp"

using namespace ferry;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

namespace {

/// The host device under another index.
class Numbered final : public ForwardingDevice {
 public:
  explicit Numbered(int number)
      : ForwardingDevice(std::make_unique<host::HostDevice>()), properties_(next().properties()) {
    properties_.index = number;
  }
  const DeviceProperties& properties() const noexcept override { return properties_; }

 private:
  DeviceProperties properties_;
};

DeviceProperties DescribeNumbered(int number) { return Numbered(number).properties(); }
std::unique_ptr<Device> MakeNumbered(int number) { return std::make_unique<Numbered>(number); }

constexpr Backend kPresent[] = {
    {.name = "gpu", .count = []() noexcept { return 3; }, .describe = DescribeNumbered, .make = MakeNumbered},
    {.name = "host",
     .count = []() noexcept { return 1; },
     .describe = DescribeNumbered,
     .make = MakeNumbered,
     .pooled = false},
};
constexpr Backend kAbsent[] = {
    {.name = "gpu", .count = []() noexcept { return 0; }, .describe = nullptr, .make = nullptr},
    {.name = "host",
     .count = []() noexcept { return 1; },
     .describe = DescribeNumbered,
     .make = MakeNumbered,
     .pooled = false},
};

#ifdef FERRY_WITHOUT_ASSERTIONS
constexpr bool kWithChecks = false;
#else
constexpr bool kWithChecks = true;
#endif

template <class Adaptor>
bool Has(const Device& device) {
  for (const Device* layer = &device;;) {
    if (dynamic_cast<const Adaptor*>(layer) != nullptr) return true;
    const auto* adaptor = dynamic_cast<const ForwardingDevice*>(layer);
    if (adaptor == nullptr) return false;
    layer = &adaptor->next();
  }
}

}  // namespace

TEST_CASE("A device is named by its backend and a number, 0 where there is none") {
  CHECK(detail::MakeDevice("gpu", kPresent)->properties().index == 0);
  CHECK(detail::MakeDevice("gpu:0", kPresent)->properties().index == 0);
  CHECK(detail::MakeDevice("gpu:2", kPresent)->properties().index == 2);
}

TEST_CASE("An unknown name is NoDevice, and the error lists the known ones") {
  CHECK_THROWS_MATCHES(
      detail::MakeDevice("tpu", kPresent), NoDevice,
      Message("no backend for device \"tpu\"; this build has gpu, host, and -DFERRY_BACKEND=<name> "
              "builds one with another"));
  CHECK_THROWS_MATCHES(MakeDevice("tpu:1"), NoDevice,
                       MessageMatches(ContainsSubstring("\"tpu:1\"; this build has") &&
                                      ContainsSubstring("host") && ContainsSubstring("sim")));
  CHECK_THROWS_AS(detail::MakeDevice("", kPresent), NoDevice);
  CHECK_THROWS_AS(detail::MakeDevice("gp", kPresent), NoDevice);
  CHECK_THROWS_AS(detail::MakeDevice(":0", kPresent), NoDevice);
  CHECK_THROWS_AS(detail::MakeDevice("GPU", kPresent), NoDevice);
}

TEST_CASE("An index out of range is NoDevice, and the error says how many there are") {
  CHECK_THROWS_MATCHES(detail::MakeDevice("gpu:3", kPresent), NoDevice,
                       Message("no device \"gpu:3\"; the last one is \"gpu:2\""));
  CHECK_THROWS_AS(detail::MakeDevice("host:1", kPresent), NoDevice);
}

TEST_CASE("A malformed number is NoDevice") {
  for (const char* name : {"gpu:", "gpu:x", "gpu:-1", "gpu:-0", "gpu:+1", "gpu: 1", "gpu:1 ", "gpu:1x",
                           "gpu:0:1", "gpu:0x1", "gpu:99999999999999999999"}) {
    CHECK_THROWS_MATCHES(
        detail::MakeDevice(name, kPresent), NoDevice,
        Message('"' + std::string(name) + "\" is not a device's name; names are like \"sim\" and \"sim:1\""));
  }
}

TEST_CASE("A backend without a device is NoDevice, and the error says why where that is known") {
  CHECK_THROWS_MATCHES(detail::MakeDevice("gpu", kAbsent), NoDevice,
                       Message("no gpu device here, or no driver for it"));
  constexpr Backend kKnown[] = {{.name = "gpu",
                                 .count = []() noexcept { return 0; },
                                 .describe = nullptr,
                                 .make = nullptr,
                                 .missing = [] { return std::string("too old a driver"); }}};
  CHECK_THROWS_MATCHES(detail::MakeDevice("gpu:1", kKnown), NoDevice,
                       Message("no gpu device here, or no driver for it: too old a driver"));
}

/// Not on the stack: where a test before had another mutex at its address, ThreadSanitizer takes the two for
/// one.
std::unique_ptr<detail::DeviceTable> MakeTable() { return std::make_unique<detail::DeviceTable>(); }

TEST_CASE("A device of a name is made once, whatever way the name is written") {
  const auto table = MakeTable();
  Device& first = table->Get("gpu", kPresent);
  CHECK(&table->Get("gpu:0", kPresent) == &first);
  CHECK(&table->Get("gpu:00", kPresent) == &first);
  CHECK(&table->Get("gpu:1", kPresent) != &first);
  CHECK(table->Get("gpu:1", kPresent).properties().index == 1);
  CHECK(&table->Get("host", kPresent) != &first);
  CHECK(Has<PooledDevice>(first));
}

TEST_CASE("A device of a name is made once, however many threads ask for it") {
  constexpr int kThreads = 8;
  for (int round = 0; round < 20; ++round) {
    const auto table = MakeTable();
    std::array<Device*, kThreads> found{};
    std::vector<std::thread> threads;
    std::latch start(kThreads);
    for (Device*& mine : found)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        mine = &table->Get("gpu:2", kPresent);
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(std::count(found.begin(), found.end(), found.front()) == kThreads);
  }
}

TEST_CASE("GetDevice has the errors of MakeDevice, and tries again") {
  const auto table = MakeTable();
  for (const char* name : {"tpu", "gpu:3", "gpu:x", "", "host:1"}) {
    std::string text;
    try {
      detail::MakeDevice(name, kPresent);
    } catch (const NoDevice& error) {
      text = error.what();
    }
    REQUIRE(!text.empty());
    CHECK_THROWS_MATCHES(table->Get(name, kPresent), NoDevice, Message(text));
  }
  CHECK_THROWS_AS(table->Get("gpu", kAbsent), NoDevice);
  CHECK_NOTHROW(table->Get("gpu", kPresent));
  CHECK_THROWS_AS(table->Get("gpu", kAbsent), NoDevice);  // it was there
}

TEST_CASE("GetDevice gives one device of each name, which is the default one, too") {
  CHECK(&GetDevice("sim") == &GetDevice("sim:0"));
  CHECK(&GetDevice("host") != &GetDevice("sim"));
  CHECK(&DefaultDevice() == &GetDevice(Name(DefaultDevice())));
  CHECK(MakeDevice("host").get() != &GetDevice("host"));
}

TEST_CASE("The default is the first device of the first backend, or what is wanted") {
  const auto table = MakeTable();
  Device& first = detail::GetDefault(nullptr, *table, kPresent);
  CHECK(&first == &table->Get("gpu:0", kPresent));
  CHECK(&detail::GetDefault("", *table, kPresent) == &first);
  CHECK(&detail::GetDefault("gpu:1", *table, kPresent) == &table->Get("gpu:1", kPresent));
  CHECK_FALSE(Has<PooledDevice>(detail::GetDefault("host", *table, kPresent)));
}

TEST_CASE("Where there is no default device, the error says what to set") {
  const auto table = MakeTable();
  CHECK_THROWS_MATCHES(
      detail::GetDefault(nullptr, *table, kAbsent), NoDevice,
      Message("no gpu device here, or no driver for it (FERRY_DEVICE=host runs on the CPU)"));
  CHECK_THROWS_MATCHES(
      detail::GetDefault("tpu", *table, kAbsent), NoDevice,
      Message(
          "no backend for device \"tpu\"; this build has gpu, host, and -DFERRY_BACKEND=<name> builds one "
          "with another (FERRY_DEVICE asks for it; FERRY_DEVICE=host runs on the CPU)"));
  CHECK_FALSE(Has<PooledDevice>(detail::GetDefault("host", *table, kAbsent)));
}

TEST_CASE("A chosen device counts, is pooled where its backend asks for it, and is checked in debug builds") {
  for (const char* name : {"gpu", "host"}) {
    const auto device = detail::MakeDevice(name, kPresent);
    CHECK(Has<StatisticsDevice>(*device));
    CHECK(Has<CheckedDevice>(*device) == kWithChecks);
    CHECK(Has<PooledDevice>(*device) == (std::string(name) == "gpu"));
  }
}

TEST_CASE("A backend describes its devices as it makes them") {
  for (const Backend& backend : Backends())
    for (int index = 0; index < backend.count(); ++index) {
      const DeviceProperties described = backend.describe(index);
      const auto made = backend.make(index);
      CHECK(described.backend == backend.name);
      CHECK(described.index == index);
      CHECK(described.name == made->properties().name);
      CHECK(described.memory == made->properties().memory);
      CHECK(described.unified == made->properties().unified);
      CHECK(described.main_stream == made->properties().main_stream);
    }
}

TEST_CASE("What a chosen device refuses, it does not count") {
  if (!kWithChecks) SKIP("nothing is refused");
  SetLogSink([](LogLevel, std::string_view) {});
  const auto device = detail::MakeDevice("host", kPresent);
  const StreamHandle main = device->properties().main_stream;
  void* const block = device->Allocate(MemoryKind::kDevice, 32, main);
  device->Deallocate(MemoryKind::kDevice, block, 31, main);
  CHECK(GetStatistics(*device).live_bytes == 32);
  device->Deallocate(MemoryKind::kDevice, block, 32, main);
  device->Deallocate(MemoryKind::kDevice, block, 32, main);
  CHECK(GetStatistics(*device).live_bytes == 0);
  SetLogSink({});
}

TEST_CASE("host and sim are in every build") {
  for (const char* name : {"host", "sim"}) {
    const auto device = MakeDevice(name);
    CHECK(device->properties().backend == name);
    CHECK(device->properties().index == 0);
  }
  CHECK_FALSE(Has<PooledDevice>(*MakeDevice("host")));
  CHECK_FALSE(Has<PooledDevice>(*MakeDevice("sim")));  // it would hide the uses of freed memory
}
