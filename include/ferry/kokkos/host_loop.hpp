// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ferry/detail/instruction_set.hpp"
#include "ferry/kokkos/execution_space.hpp"

// Clang finds out at run time, and warns of a promise that it cannot use.
#if defined(__GNUC__) && !defined(__clang__)
#define FERRY_INDEPENDENT _Pragma("GCC ivdep")
#else
#define FERRY_INDEPENDENT
#endif

namespace ferry::detail {

/// functor(i) for each i of a range, in any order.
template <class Functor>
struct EachOf {
  /// Loops stream through memory, where wider registers gain nothing; and where an array does not begin at a
  /// cache line, each access of theirs is to two.
  static constexpr InstructionSet kWidest = InstructionSet::kAvx2;

  Functor functor;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    constexpr std::int64_t kRun = 64;  // a count known to the compiler is vectorised at -O2 too
    const Functor local = functor;     // which no store can change
    for (; first + kRun <= last; first += kRun) {
      FERRY_INDEPENDENT
      for (std::int64_t i = 0; i < kRun; ++i) local(first + i);
    }
    for (; first < last; ++first) local(first);
  }
};

/// The part of 0 ... n-1 that each of `workers` runs.
template <class Range>
struct ShareOf {
  Range range;
  std::int64_t n, workers;

  void operator()(std::int64_t worker) const {
    const std::int64_t share = n / workers, more = n % workers;
    const std::int64_t first = worker * share + std::min(worker, more);
    Run(range, first, first + share + (worker < more ? 1 : 0));
  }
};

/// Waits for what was queued. By a short name, where there are names: Kokkos' own allocates, and a kernel
/// that has run must not be reported as failed.
template <class Space>
void Fence(const Space& space) {
  if constexpr (requires { space.fence("ferry"); })
    space.fence("ferry");
  else
    space.fence();
}

/// Runs range(first, last) for parts that make up 0 ... n-1, on all that the host space has, and waits. `gpu`
/// is UseKokkos'.
template <class Range>
void RunOnHost(std::optional<int> gpu, std::int64_t n, const Range& range) {
  if (!kHostLoopsByKokkos || !UseKokkos(gpu)) return Run(range, 0, n);
  const HostSpace space;
  // NOLINTNEXTLINE(readability-static-accessed-through-instance): static in old versions of Kokkos only
  const auto workers = std::min<std::int64_t>(n, space.concurrency());
  Kokkos::parallel_for(Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::int64_t>>(space, 0, workers),
                       ShareOf<Range>{range, n, workers});
  Fence(space);
}

}  // namespace ferry::detail
