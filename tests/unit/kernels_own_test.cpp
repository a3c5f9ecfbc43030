// SPDX-License-Identifier: BSD-2-Clause
// Kernels of the user's own.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <vector>

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
struct CountWithOperand : Count {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, float*) const { Count::operator()(i); }
};

TEST_CASE("A kernel on the CPU or a host stream is done when the call returns", "[kernels][no-gpu]") {
  const World world(GENERATE(as<std::string>(), "host cpu", "host stream", "sim cpu"));
  int calls = 0;
  ParallelFor(world.place(), 100, Count{&calls});
  CHECK(calls == 100);
}

TEST_CASE("A kernel on a simulated device is late, and done once its stream is synchronised",
          "[kernels][no-gpu]") {
  const World world(GENERATE(as<std::string>(), "sim main", "sim stream"));
  int calls = 0;
  Array<float> x(10, world.device());
  ParallelFor(world.place(), 100, Overwrite(x), CountWithOperand{{&calls}});
  CHECK(calls == 0);
  world.stream().Synchronize();
  CHECK(calls == 100);
}

TEST_CASE("Gemm and Copy on a simulated device are as late as kernels", "[kernels][no-gpu]") {
  const World world("sim stream");
  const long copies = sim::Inspect().copies;
  int calls = 0;
  const Array<float> a(Numbers<float>(100, 1), world.device());
  Array<float> c(Numbers<float>(100, 2), world.device());
  ParallelFor(world.place(), 1, ReadWrite(c), CountWithOperand{{&calls}});
  Gemm(world.place(), Transpose::kNo, Transpose::kNo, 10, 10, 10, 1, a, a, 0, c);
  Copy(world.place(), a, c);
  CHECK(calls == 0);
  CHECK(ValuesOf(c) == ValuesOf(a));
  CHECK(calls == 1);
  CHECK(sim::Inspect().copies > copies);
}

/// A user's kernel that is more than a loop.
struct MaximumOf {
  std::int64_t n;
  std::shared_ptr<float> result;

  struct Step {
    const float* x;
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, float& most) const {
      if (x[i] > most) most = x[i];
    }
  };
  template <class Space>
  void operator()(const Space& space, const float* x) const {
    Kokkos::parallel_reduce(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n), Step{x},
                            Kokkos::Max<float>(*result));
  }
};

TEST_CASE("A kernel of the user's own may be more than a loop", "[kernels]") {
  const World world(Everywhere());
  std::vector<float> values = Numbers<float>(1000, 1);
  values[567] = 8;
  const Array<float> x(values, world.device());
  const auto result = std::make_shared<float>();
  if (!detail::UseKokkos()) SKIP("this Kokkos needs a GPU");
  Launch(world.place(), Read(x), MaximumOf{x.size(), result});
  world.stream().Synchronize();
  CHECK(*result == 8);
}

struct AddIndex {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, int* x) const { x[i] += static_cast<int>(i); }
};

TEST_CASE("A loop of the user's own runs each index once", "[kernels]") {
  const World world(Everywhere());
  for (const std::int64_t n : {1, 63, 64, 65, 129, 1000}) {
    Array<int> x(std::vector<int>(static_cast<std::size_t>(n), 5), world.device());
    ParallelFor(world.place(), n, ReadWrite(x), AddIndex{});
    const std::vector<int> values = ValuesOf(x);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == 5 + static_cast<int>(i));
  }
}

TEST_CASE("A loop is right on each instruction set that this processor has", "[kernels][no-gpu]") {
  using detail::InstructionSet;
  const auto set = GENERATE(InstructionSet::kBaseline, InstructionSet::kAvx2);
  if (set > detail::BestInstructionSet()) SKIP("not on this processor");
  std::vector<int> x(1000, 5);
  using Functor = detail::BoundTo<1, AddIndex, Operand<int>>;
  detail::Run(detail::EachOf<Functor>{Functor(AddIndex{}, x.data()), {1000}}, 3, 999, set);
  for (int i = 0; i < 1000; ++i) CHECK(x[static_cast<std::size_t>(i)] == (i < 3 || i == 999 ? 5 : 5 + i));
}

}  // namespace
}  // namespace ferry::testing
