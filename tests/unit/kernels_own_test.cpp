// SPDX-License-Identifier: BSD-2-Clause
// Kernels of the user's own.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

#include "ferry/error.hpp"
#include "ferry/kokkos.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

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

TEST_CASE("An execution space is known by the streams that it takes", "[kernels][no-gpu]") {
  STATIC_CHECK(detail::BackendOf<CudaLike>() == "cuda");
  STATIC_CHECK(detail::BackendOf<HipLike>() == "hip");
  STATIC_CHECK(detail::BackendOf<detail::HostSpace>().empty());
  CHECK(detail::OnStream<CudaLike>(StreamHandle{1}).stream == reinterpret_cast<CudaStream*>(1));
  CHECK(detail::OnStream<HipLike>(StreamHandle{2}).stream == reinterpret_cast<HipStream*>(2));
}

/// Counts in host memory how often it was called.
struct Count {
  int* calls;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const { Kokkos::atomic_fetch_add(calls, 1); }
};

TEST_CASE("A kernel on the CPU or a host stream is done when the call returns", "[kernels][no-gpu]") {
  const World world(GENERATE(as<std::string>(), "host cpu", "host stream", "sim cpu"));
  int calls = 0;
  ParallelFor(world.place(), 100, {&calls}, Count{&calls});
  CHECK(calls == 100);
}

TEST_CASE("A kernel on a simulated device is late, and done once its stream is synchronised",
          "[kernels][no-gpu]") {
  const World world(GENERATE(as<std::string>(), "sim main", "sim stream"));
  int calls = 0;
  Elements<float> x(world, std::vector<float>(10, 1));
  ParallelFor(world.place(), 100, {x.read_write()}, Count{&calls});
  CHECK(calls == 0);
  world.stream().Synchronize();
  CHECK(calls == 100);
}

TEST_CASE("Gemm and Copy on a simulated device are as late as kernels", "[kernels][no-gpu]") {
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

TEST_CASE("A kernel of Ferry's own touches its elements and no others", "[kernels][no-gpu]") {
  sim::Reset();
  const auto device = MakeDevice("sim");
  const Place place = Place::On(Stream::Main(*device));
  SyncedMemory x(8 * sizeof(float), *device), y(8 * sizeof(float), *device);
  const auto* const from = place.Read<float>(x);
  auto* const to = place.ReadWrite<float>(y);
  Axpy(place, 8, 2.F, from, to);
  CHECK(Dot(place, 8, from, from) == 0);
  CHECK(sim::Inspect().misuse.empty());
  const auto refused = [](auto kernel) {
    CHECK_THROWS_AS(kernel(), DeviceError);
    CHECK(sim::Inspect().misuse.back().find("out of bounds: 36 bytes where 32 are left") !=
          std::string::npos);
  };
  refused([&] { Axpy(place, 9, 2.F, from, to); });
  refused([&] { Axpby(place, 9, 2.F, from, 1.F, to); });
  refused([&] { Scale(place, 9, 2.F, to); });
  refused([&] { Set(place, 9, 2.F, to); });
  refused([&] { Asum(place, 9, from); });
  refused([&] { Gemm(place, Transpose::kNo, Transpose::kNo, 3, 2, 3, 1.F, from, from, 0.F, to); });
  CHECK(sim::Inspect().misuse.size() == 6);
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
  const World world(Everywhere());
  std::vector<float> values = Numbers<float>(1000, 1);
  values[567] = 8;
  const Elements<float> x(world, values);
  const auto result = std::make_shared<float>();
  if (!detail::UseKokkos()) SKIP("this Kokkos needs a GPU");
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
  const auto nothing = KOKKOS_LAMBDA(std::int64_t){};
  CHECK_THROWS_MATCHES(
      ParallelFor(world.place(), -1, {}, nothing), std::invalid_argument,
      Catch::Matchers::Message("ferry::ParallelFor: n is -1; it counts elements, and is 0 or more"));
}

TEST_CASE("A null pointer among those that a kernel uses is refused, unless there is nothing to do",
          "[kernels]") {
  const World world(Everywhere());
  Elements<int> x(world, {5});
  int* const null = nullptr;
  const auto says = [](const std::string& call) {
    return Catch::Matchers::Message(
        "ferry::" + call + ": pointer 2 of 2 is null; take it from place.Read, ReadWrite or Overwrite");
  };
  const auto nothing = KOKKOS_LAMBDA(std::int64_t){};
  CHECK_THROWS_MATCHES(ParallelFor(world.place(), 1, {x.read(), null}, nothing), std::invalid_argument,
                       says("ParallelFor"));
  CHECK_THROWS_MATCHES(Launch(world.place(), {x.read(), null}, [](const auto&) {}), std::invalid_argument,
                       says("Launch"));
  ParallelFor(world.place(), 0, {null}, nothing);
  ParallelFor(world.place(), 1, {{null, 0}}, nothing);
}

struct AddIndex {
  int* x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { x[i] += static_cast<int>(i); }
};

TEST_CASE("A loop is right on each instruction set that this processor has", "[kernels][no-gpu]") {
  using detail::InstructionSet;
  const auto set = GENERATE(InstructionSet::kBaseline, InstructionSet::kAvx2);
  if (set > detail::BestInstructionSet()) SKIP("not on this processor");
  std::vector<int> x(1000, 5);
  detail::Run(detail::EachOf<AddIndex>{{x.data()}}, 3, 999, set);
  for (int i = 0; i < 1000; ++i) CHECK(x[static_cast<std::size_t>(i)] == (i < 3 || i == 999 ? 5 : 5 + i));
}

}  // namespace
}  // namespace ferry::testing
