// SPDX-License-Identifier: BSD-2-Clause
// What does a loop over operands cost beside the same loop of Kokkos, written by hand? And a slice?
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "bench/compare.hpp"
#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/kokkos.hpp"

namespace {

using ferry::Array;
using ferry::Place;
using Space = Kokkos::DefaultHostExecutionSpace;

struct AddScaled {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const float* x, float* y) const {
    y[i] += 1e-9F * x[i];
  }
};
struct AddScaledByHand {
  const float* x;
  float* y;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { y[i] += 1e-9F * x[i]; }
};

void Streaming(ferry::Device& host) {
  constexpr std::int64_t kElements = std::int64_t{16} << 20;  // 64 MiB
  const Place place(host);
  const auto x = std::make_shared<Array<float>>(kElements, host),
             y = std::make_shared<Array<float>>(kElements, host);
  const float* const in = place.Read(*x).data();
  float* const out = place.ReadWrite(*y).data();
  bench::Compare(
      "ParallelFor of operands, Kokkos::parallel_for/64MiB", 0.98,
      [=] { ParallelFor(place, kElements, Read(*x), ReadWrite(*y), AddScaled{}); },
      [=] {
        Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, kElements),
                             AddScaledByHand{in, out});
        Space().fence();
      });
}

constexpr std::int64_t kSide = 1000;

struct Stencil {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j, std::int64_t i, ferry::View<const float, 2> a,
                                         ferry::View<float, 2> b) const {
    ++j, ++i;
    b(j, i) = a(j - 1, i) + a(j + 1, i) + a(j, i - 1) + a(j, i + 1) - 4 * a(j, i);
  }
};
template <class T>
using Grid = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
template <class Index>
struct StencilByHand {
  Grid<const float> a;
  Grid<float> b;
  KOKKOS_INLINE_FUNCTION void operator()(Index j, Index i) const {
    b(j, i) = a(j - 1, i) + a(j + 1, i) + a(j, i - 1) + a(j, i + 1) - 4 * a(j, i);
  }
};

/// Row by row, by hand.
struct RowsByHand {
  const float* a;
  float* b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const float* const in = a + (row + 1) * kSide;
    float* const out = b + (row + 1) * kSide;
    for (std::int64_t i = 1; i < kSide - 1; ++i)
      out[i] = in[i - kSide] + in[i + kSide] + in[i - 1] + in[i + 1] - 4 * in[i];
  }
};

template <class Index>
void Stencils(ferry::Device& host, const char* name) {
  const Place place(host);
  const auto x = std::make_shared<Array<float>>(kSide * kSide, host),
             y = std::make_shared<Array<float>>(kSide * kSide, host);
  const StencilByHand<Index> by_hand{Grid<const float>(place.Read(*x).data(), kSide, kSide),
                                     Grid<float>(place.ReadWrite(*y).data(), kSide, kSide)};
  using Policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, Kokkos::IndexType<Index>>;
  const auto ours = [=] {
    ParallelFor(place, {kSide - 2, kSide - 2}, Read(*x, {kSide, kSide}), ReadWrite(*y, {kSide, kSide}),
                Stencil{});
  };
  bench::Compare(std::string("Stencil of operands, Kokkos::MDRangePolicy of ") + name, 1 / 1.1, ours, [=] {
    Kokkos::parallel_for(Policy({Index{1}, Index{1}}, {Index{kSide - 1}, Index{kSide - 1}}), by_hand);
    Space().fence();
  });
  if (!std::is_same_v<Index, int>) return;
  bench::Compare("Stencil of operands, Kokkos::RangePolicy of rows/1000x1000", 1 / 1.1, ours,
                 [=, rows = RowsByHand{by_hand.a.data(), by_hand.b.data()}] {
                   Kokkos::parallel_for(Kokkos::RangePolicy<Space>(0, kSide - 2), rows);
                   Space().fence();
                 });
}

void Slices(ferry::Device& host) {
  const auto x = std::make_shared<Array<float>>(1000, host);
  benchmark::RegisterBenchmark("Slice of an Array", [x](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(x->Slice(10, 100));
  });
}

}  // namespace

int main(int argc, char** argv) {
  ferry::Device& host = ferry::GetDevice("host");
  if (!ferry::detail::UseKokkos()) return 4;  // built for a GPU, and there is none
  Streaming(host);
  Stencils<std::int64_t>(host, "int64/1000x1000");
  Stencils<int>(host, "int/1000x1000");
  Slices(host);
  return bench::Run(argc, argv);
}
