// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>

#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/log.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

/// Says that it is a GPU of a backend that no Kokkos has kernels for.
class ForeignDevice final : public ForwardingDevice {
 public:
  ForeignDevice() : ForwardingDevice(MakeDevice("host")), properties_(next().properties()) {
    properties_.backend = "foreign";
    properties_.unified = false;
    properties_.kernels_at_once = false;
  }
  const DeviceProperties& properties() const noexcept override { return properties_; }

 private:
  DeviceProperties properties_;
};

TEST_CASE("Where Kokkos has no kernels for a device they run on the CPU, with one warning a process",
          "[kernels]") {
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) lines.emplace_back(line);
  });
  ForeignDevice device;
  const Place place{Stream(device)};
  Array<float> x(100, device), y(100, device);
  static_cast<void>(place.Overwrite(x));
  Set(place, 2, x);
  CHECK(x.memory()->head() == Head::HEAD_AT_CPU);
  Scale(place, 3, x);
  CHECK(Asum(place, x) == 600);
  SetLogSink({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("foreign:0") != std::string::npos);

  // What asks for the place's own elements gets them, and so does what needs no kernel.
  static_cast<void>(place.ReadWrite(x));
  CHECK(x.memory()->head() == Head::HEAD_AT_GPU);
  Copy(place, x, y);
  CHECK(y.memory()->head() == Head::HEAD_AT_GPU);
  CHECK(ValuesOf(y) == std::vector<float>(100, 6));
}

TEST_CASE("A place is on the side that it was made for", "[kernels]") {
  CHECK(World("host cpu").place().side() == Side::kCpu);
  CHECK(World("sim cpu").place().side() == Side::kCpu);
  CHECK(World("host stream").place().side() == Side::kGpu);
  CHECK(World("sim stream").place().side() == Side::kGpu);
  const auto device = MakeDevice("sim");
  CHECK(Place(*device).stream() == Stream::Main(*device));
  CHECK(&Place(*device).device() == device.get());
  CHECK(&Place::Cpu(*device).device() == device.get());
}

int LineOf(const At& at, const char*& file) {
  file = at.site().file();
  return at.site().line();
}

TEST_CASE("A call's place knows where in the program it was said", "[kernels]") {
  const World world("host cpu");
  const char* file = nullptr;
  CHECK(LineOf(world.place(), file) == __LINE__);
  CHECK(std::string_view(file).ends_with("kernels_place_test.cpp"));
}

TEST_CASE("Kernels on several streams see each other's results through the memory", "[kernels]") {
  sim::Options options;
  options.seed = GENERATE(as<std::uint64_t>(), 0, 1, 2, 3, 4, 5, 6, 7);
  const World world("sim main", options);
  const Place first{Stream(world.device())}, second{Stream(world.device())};
  Array<double> x(1000, world.device()), y(1000, world.device());
  Set(first, 3, x);
  Set(second, 1, y);
  for (int i = 0; i < 3; ++i) {
    Axpy(second, 2, x, y);
    Scale(first, -1, x);
  }
  CHECK(Dot(world.place(), x, y) == -3 * 7 * 1000);
  CHECK(ValuesOf(y)[999] == 7);
}

TEST_CASE("A launch that fails says so, and the bytes are as they were", "[kernels]") {
  sim::Options options;
  options.fail_call = "Launch";
  options.fail_at = 1;
  const auto run = GENERATE(
      as<std::function<void(const Place&, Array<float>&)>>(),
      [](const Place& p, Array<float>& x) { Scale(p, 2, x); },
      [](const Place& p, Array<float>& x) { Axpy(p, 1, x, x); },
      [](const Place& p, Array<float>& x) { static_cast<void>(Asum(p, x)); },
      [](const Place& p, Array<float>& x) {
        Gemm(p, Transpose::kNo, Transpose::kNo, 3, 3, 1, 1, x.Slice(0, 3), x.Slice(3, 3), 1, x.Slice(6, 9));
      });
  const World world("sim stream", options);
  const std::vector<float> before = Numbers<float>(15, 1);
  Array<float> x(before, world.device());
  CHECK_THROWS_AS(run(world.place(), x), DeviceError);
  CHECK(ValuesOf(x) == before);
}

TEST_CASE("A sum whose wait fails leaves its work something to write to", "[kernels]") {
  sim::Options options;
  options.fail_call = "StreamSynchronize";
  options.fail_at = 1;
  const World world("sim stream", options);
  const Array<float> x(std::vector<float>(10000, 1), world.device());
  CHECK_THROWS_AS(Asum(world.place(), x), DeviceError);
  sim::Drain();
  CHECK(Asum(world.place(), x) == 10000);
}

}  // namespace
}  // namespace ferry::testing
