// SPDX-License-Identifier: BSD-2-Clause
// What FERRY_RANGES shows a vendor's profiler.
#include "core/seeing/ranges.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

/// What a profiler was told.
std::vector<std::string> shown;
constexpr ProfilerRanges kShow = {
    .begin = [](const char* text) noexcept -> std::uint64_t {
      return shown.emplace_back(text), shown.size();
    },
    .end = [](std::uint64_t range) noexcept { shown.push_back("end " + std::to_string(range)); },
    .mark = [](const char* text) noexcept { shown.push_back(std::string("mark ") + text); },
};
constexpr Backend kWith = {
    .name = "with", .count = nullptr, .describe = nullptr, .make = nullptr, .ranges = []() noexcept {
      return &kShow;
    }};
constexpr Backend kWithout = {.name = "without", .count = nullptr, .describe = nullptr, .make = nullptr};

TEST_CASE("A profiler is shown each copy with label and sites, and each access") {
  sim::Reset();
  const auto device = MakeDevice("sim:0");
  SyncedMemory memory(1'000'000, *device, "weights");
  memory.mutable_cpu_data();
  shown.clear();
  {
    const Watch watch(detail::RangesOf(kShow));
    memory.gpu_data();
  }
  REQUIRE(shown.size() == 3);
  const std::string line = std::to_string(__LINE__ - 3);
  CHECK_THAT(shown[0], StartsWith("copy \"weights\", 1.0 MB from the host to sim:0 for "));
  CHECK_THAT(shown[0], ContainsSubstring("(ranges_test.cpp:" + line + ")"));
  CHECK(shown[1] == "end 1");
  CHECK_THAT(shown[2], StartsWith("mark read \"weights\" on sim:0 by "));
  memory.mutable_cpu_data();
  CHECK(shown.size() == 3);
}

TEST_CASE("The range of a copy that fails ends") {
  LogDevice device;
  SyncedMemory memory(64, device, "x");
  memory.mutable_cpu_data();
  memory.Prefetch(Side::kGpu, Stream::Main(device));
  memory.mutable_cpu_data();
  const Watch watch(detail::RangesOf(kShow));
  shown.clear();
  device.FailAt(1);
  CHECK_THROWS_AS(memory.gpu_data(), DeviceError);
  REQUIRE(shown.size() == 2);
  CHECK(shown[1] == "end 1");
}

TEST_CASE("FERRY_RANGES takes the backend that has ranges, or warns once") {
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const std::vector<Backend> with = {kWithout, kWith}, without = {kWithout};
  CHECK(detail::RangesOfProgram("1", with) != nullptr);
  CHECK(detail::RangesOfProgram("0", with) == nullptr);
  CHECK(detail::RangesOfProgram("", without) == nullptr);
  CHECK(lines.empty());
  CHECK(detail::RangesOfProgram("1", without) == nullptr);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], StartsWith("FERRY_RANGES: this build has no profiler's ranges"));
  CHECK(detail::RangesOfProgram("yes", with) == nullptr);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "FERRY_RANGES=yes is not a value: 0, 1");
  SetLogSink({});
}

}  // namespace
}  // namespace ferry::testing
