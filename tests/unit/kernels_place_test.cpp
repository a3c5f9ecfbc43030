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
  const Stream stream(device);
  const Place place = Place::On(stream);
  CHECK(Place::On(stream).side() == Side::kCpu);
  SetLogSink({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("foreign:0") != std::string::npos);

  SyncedMemory memory(100 * sizeof(float), device);
  memory.overwrite_gpu_data(stream);
  Set(place, 100, 2.F, place.Overwrite<float>(memory));
  CHECK(memory.head() == Head::HEAD_AT_CPU);
  Scale(place, 100, 3.F, place.ReadWrite<float>(memory));
  CHECK(Asum(place, 100, place.Read<float>(memory)) == 600);
}

TEST_CASE("A place is on the side that it was made for", "[kernels]") {
  CHECK(World("host cpu").place().side() == Side::kCpu);
  CHECK(World("sim cpu").place().side() == Side::kCpu);
  CHECK(World("host stream").place().side() == Side::kGpu);
  CHECK(World("sim stream").place().side() == Side::kGpu);
}

TEST_CASE("Kernels on several streams see each other's results through the memory", "[kernels]") {
  sim::Options options;
  options.seed = GENERATE(as<std::uint64_t>(), 0, 1, 2, 3, 4, 5, 6, 7);
  const World world("sim main", options);
  const Place first = Place::On(Stream(world.device())), second = Place::On(Stream(world.device()));
  SyncedMemory x(1000 * sizeof(double), world.device()), y(1000 * sizeof(double), world.device());
  Set(first, 1000, 3.0, first.Overwrite<double>(x));
  Set(second, 1000, 1.0, second.Overwrite<double>(y));
  for (int i = 0; i < 3; ++i) {
    Axpy(second, 1000, 2.0, second.Read<double>(x), second.ReadWrite<double>(y));
    Scale(first, 1000, -1.0, first.ReadWrite<double>(x));
  }
  CHECK(Dot(world.place(), 1000, world.place().Read<double>(x), world.place().Read<double>(y)) ==
        -3 * 7 * 1000);
  CHECK(static_cast<const double*>(y.cpu_data())[999] == 7);
}

TEST_CASE("A launch that fails says so, and the bytes are as they were", "[kernels]") {
  sim::Options options;
  options.fail_call = "Launch";
  options.fail_at = 1;
  const auto run = GENERATE(
      as<std::function<void(const Place&, float*)>>(), [](const Place& p, float* x) { Set(p, 10, 1.F, x); },
      [](const Place& p, float* x) { Axpy(p, 10, 1.F, x, x); },
      [](const Place& p, float* x) { static_cast<void>(Asum(p, 10, x)); },
      [](const Place& p, float* x) {
        Gemm(p, Transpose::kNo, Transpose::kNo, 3, 3, 1, 1.F, x, x + 3, 0.F, x + 6);
      });
  const World world("sim stream", options);
  const std::vector<float> before = Numbers<float>(15, 1);
  Elements<float> x(world, before);
  CHECK_THROWS_AS(run(world.place(), x.read_write()), DeviceError);
  CHECK(x.values() == before);
}

TEST_CASE("A sum whose wait fails leaves its work something to write to", "[kernels]") {
  sim::Options options;
  options.fail_call = "StreamSynchronize";
  options.fail_at = 1;
  const World world("sim stream", options);
  const Elements<float> x(world, std::vector<float>(10000, 1));
  CHECK_THROWS_AS(Asum(world.place(), 10000, x.read()), DeviceError);
  sim::Drain();
  CHECK(Asum(world.place(), 10000, x.read()) == 10000);
}

}  // namespace
}  // namespace ferry::testing
