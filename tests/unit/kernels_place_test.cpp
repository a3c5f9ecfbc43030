// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/kokkos.hpp"
#include "ferry/log.hpp"
#include "tests/unit/kernels_world.hpp"
#include "tests/unit/kokkos_lacks_gpu.hpp"

namespace ferry::testing {
namespace {

/// Says that it is another backend's, whose kernels no Kokkos here has.
class ForeignDevice final : public ForwardingDevice {
 public:
  ForeignDevice() : ForwardingDevice(MakeDevice("host")), properties_(next().properties()) {
    properties_.backend = "cuda";
    properties_.unified = false;
  }
  const DeviceProperties& properties() const noexcept override { return properties_; }

 private:
  DeviceProperties properties_;
};

// Kokkos' spaces, as far as they are told apart.
struct CudaStream;
struct HipStream;
struct CudaLike {
  explicit CudaLike(CudaStream* on) : stream(on) {}
  CudaStream* cuda_stream() const { return stream; }
  CudaStream* stream;
};
struct HipLike {
  explicit HipLike(HipStream* on) : stream(on) {}
  HipStream* hip_stream() const { return stream; }
  HipStream* stream;
};

TEST_CASE("An execution space is known by the streams that it takes", "[kernels]") {
  STATIC_CHECK(detail::BackendOf<CudaLike>() == "cuda");
  STATIC_CHECK(detail::BackendOf<HipLike>() == "hip");
  STATIC_CHECK(detail::BackendOf<detail::HostSpace>().empty());
  CHECK(detail::OnStream<CudaLike>(StreamHandle{1}).stream == reinterpret_cast<CudaStream*>(1));
  CHECK(detail::OnStream<HipLike>(StreamHandle{2}).stream == reinterpret_cast<HipStream*>(2));
}

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
  CHECK(lines[0].find("cuda:0") != std::string::npos);

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

/// Counts in host memory how often it was called.
struct Count {
  int* calls;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const { Kokkos::atomic_fetch_add(calls, 1); }
};

TEST_CASE("A kernel on the CPU or a host stream is done when the call returns", "[kernels]") {
  const World world(GENERATE(as<std::string>(), "host cpu", "host stream", "sim cpu"));
  int calls = 0;
  ParallelFor(world.place(), 100, {&calls}, Count{&calls});
  CHECK(calls == 100);
}

TEST_CASE("A kernel on a simulated device is late, and done once its stream is synchronised", "[kernels]") {
  const World world(GENERATE(as<std::string>(), "sim main", "sim stream"));
  int calls = 0;
  Elements<float> x(world, std::vector<float>(10, 1));
  ParallelFor(world.place(), 100, {x.read_write()}, Count{&calls});
  CHECK(calls == 0);
  world.stream().Synchronize();
  CHECK(calls == 100);
}

TEST_CASE("Gemm and Copy on a simulated device are as late as kernels", "[kernels]") {
  const World world("sim stream");
  const long copies = sim::Inspect().copies;
  int calls = 0;
  Elements<float> a(world, Numbers<float>(100, 1)), c(world, Numbers<float>(100, 2));
  const float* const from = a.read();
  float* const to = c.read_write();
  ParallelFor(world.place(), 1, {to}, Count{&calls});
  Gemm(world.place(), Transpose::kNo, Transpose::kNo, 10, 10, 10, 1.F, from, from, 0.F, to);
  Copy(world.place(), 100, from, to);
  CHECK(calls == 0);
  CHECK(c.values() == a.values());
  CHECK(calls == 1);
  CHECK(sim::Inspect().copies > copies);
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

/// A user's reduction: what a loop does not say.
struct MaximumOf {
  std::int64_t n;
  const float* x;
  std::shared_ptr<float> result;

  struct Step {
    const float* x;
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, float& most) const {
      if (x[i] > most) most = x[i];
    }
  };
  template <class Space>
  void operator()(const Space& space) const {
    Kokkos::parallel_reduce(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n), Step{x},
                            Kokkos::Max<float>(*result));
  }
};

TEST_CASE("A kernel of the user's own may be more than a loop", "[kernels]") {
  if (testing::KokkosLacksGpu()) SKIP("this Kokkos needs a GPU");
  const World world(Everywhere());
  std::vector<float> values = Numbers<float>(1000, 1);
  values[567] = 8;
  const Elements<float> x(world, values);
  const auto result = std::make_shared<float>();
  Launch(world.place(), {x.read()}, MaximumOf{x.n(), x.read(), result});
  world.stream().Synchronize();
  CHECK(*result == 8);
}

TEST_CASE("A loop of the user's own runs each index once", "[kernels]") {
  const World world(Everywhere());
  for (const std::int64_t n : {1, 63, 64, 65, 129, 1000}) {
    Elements<int> x(world, std::vector<int>(static_cast<std::size_t>(n), 5));
    int* const data = x.read_write();
    ParallelFor(
        world.place(), n, {data}, KOKKOS_LAMBDA(std::int64_t i) { data[i] += static_cast<int>(i); });
    const std::vector<int> values = x.values();
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == 5 + static_cast<int>(i));
  }
  CHECK_THROWS_AS(ParallelFor(world.place(), -1, {}, [](std::int64_t) {}), std::invalid_argument);
}

}  // namespace
}  // namespace ferry::testing
