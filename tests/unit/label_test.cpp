// SPDX-License-Identifier: BSD-2-Clause
// Whatever is in a label, each text that shows it is one line.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "ferry/ferry.hpp"
#include "sim_child.hpp"
#include "tests/log_lines.hpp"

namespace ferry::testing {
namespace {

constexpr const char* kLabel = "a\nb";

bool OneLine(const std::string& text) {
  return text.find("\"a?b\"") != std::string::npos && text.find('\n') == std::string::npos;
}

template <class Call>
std::string ErrorOf(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("An error of a memory whose label has two lines says both on one") {
  sim::Reset({.fail_at = 1, .fail_call = "MemcpyAsync"});
  const auto device = MakeDevice("sim");
  const Stream on = Stream::Main(*device);
  SyncedMemory x(64, *device, kLabel);
  x.overwrite_cpu_data();
  CHECK(OneLine(ErrorOf([&] { x.gpu_data(on); })));
  const Stream captured(*device);
  sim::BeginCapture(captured);
  CHECK(OneLine(ErrorOf([&] { x.gpu_data(captured); })));
  sim::EndCapture(captured);

  SetMemoryLimit(*device, 1);
  SyncedMemory y(64, *device, kLabel);
  const std::string full = ErrorOf([&] { y.overwrite_gpu_data(on); });
  CHECK(OneLine(full.substr(0, full.find("; the largest"))));
  CHECK(OneLine(full.substr(full.rfind('\n') + 1)));

  Array<float> array(4, *device, kLabel);
  auto left = array.Slice(0, 3), right = array.Slice(1, 3);
  CHECK(OneLine(ErrorOf([&] { Axpy(Place(*device), 1.0F, left, right); })));
  CHECK(OneLine(ErrorOf([&] { array.Slice(2, 3); })));
  CHECK(OneLine(ErrorOf([&] { Array<float>(-1, *device, kLabel); })));
}

TEST_CASE("A warning of a memory whose label has two lines says both on one") {
  CHECK(InChild([] {
          LogLines lines;
          sim::Reset();
          const auto device = MakeDevice("sim");
          SetPointerGuard(PointerGuard::kOn);
          SyncedMemory x(64, *device, kLabel);
          std::array<std::byte, 64> bytes{};
          x.set_cpu_data(bytes.data());
          _exit(lines.lines().size() == 1 && OneLine(lines.lines()[0]) ? 0 : 1);
        }).status == 0);
  CHECK(InChild([] {
          LogLines lines;
          sim::Reset({.unified = true});
          const auto device = MakeDevice("sim");
          SetPointerGuard(PointerGuard::kOn);
          SyncedMemory x(64, *device, kLabel);
          x.cpu_data();
          _exit(lines.lines().size() == 1 && OneLine(lines.lines()[0]) ? 0 : 1);
        }).status == 0);
  LogLines lines(LogLevel::kTrace);
  sim::Reset();
  auto device = MakeDevice("sim");
  std::optional<SyncedMemory> x(std::in_place, 64, *device, kLabel);
  x->cpu_data();
  CHECK(OneLine(lines.lines().back()));
  device.reset();
  x.reset();
  CHECK(OneLine(lines.lines().back()));
}

}  // namespace
}  // namespace ferry::testing
