// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "ferry/detail/instruction_set.hpp"
#include "ferry/detail/kokkos/execution_space.hpp"

// Clang finds out at run time, and warns of a promise that it cannot use.
#if defined(__GNUC__) && !defined(__clang__)
#define FERRY_INDEPENDENT _Pragma("GCC ivdep")
#else
#define FERRY_INDEPENDENT
#endif

namespace ferry::detail {

/// row(index, begin, end) for parts of rows that make up elements first ... last-1 of an index space of N
/// dims, the last of which runs fastest: for those with index[0] ... index[N-2] before, and begin ... end-1
/// as the last.
template <std::size_t N, class Row>
KOKKOS_FORCEINLINE_FUNCTION void ForRows(const std::int64_t (&dims)[N], std::int64_t first, std::int64_t last,
                                         const Row& row) {
  if constexpr (N == 1) {
    const std::int64_t none[1] = {};
    row(none, first, last);
  } else {
    std::int64_t index[N] = {};
    std::int64_t begin = first % dims[N - 1];
    std::int64_t rest = first / dims[N - 1];
    for (std::size_t axis = N - 1; axis-- > 0; rest /= dims[axis]) index[axis] = rest % dims[axis];
    while (first < last) {
      const std::int64_t end = std::min(dims[N - 1], begin + (last - first));
      row(index, begin, end);
      first += end - begin;
      begin = 0;
      for (std::size_t axis = N - 1; axis-- > 0 && ++index[axis] == dims[axis];) index[axis] = 0;
    }
  }
}

/// functor(index[0], ..., i) for the i of a part of a row, in any order.
template <class Functor, class Axes>
struct EachOfRow;
template <class Functor, std::size_t... K>
struct EachOfRow<Functor, std::index_sequence<K...>> {
  Functor functor;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t (&index)[sizeof...(K) + 1],
                                              std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t kRun = 64;  // a count known to the compiler is vectorised at -O2 too
    const Functor local = functor;     // which no store can change, nor these
    [[maybe_unused]] const std::int64_t fixed[sizeof...(K) + 1] = {index[K]..., 0};
    for (; begin + kRun <= end; begin += kRun) {
      FERRY_INDEPENDENT
      for (std::int64_t i = 0; i < kRun; ++i) local(fixed[K]..., begin + i);
    }
    for (; begin < end; ++begin) local(fixed[K]..., begin);
  }
};

/// functor(...) for each index of a part of an index space, in any order.
template <class Functor, std::size_t N = 1>
struct EachOf {
  /// Loops stream through memory, where wider registers gain nothing; and where an array does not begin at a
  /// cache line, each access of theirs is to two.
  static constexpr InstructionSet kWidest = InstructionSet::kAvx2;

  Functor functor;
  std::int64_t dims[N];

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    ForRows(dims, first, last, EachOfRow<Functor, std::make_index_sequence<N - 1>>{functor});
  }
};

/// Which of 0 ... n-1 each of `workers` runs.
struct Shares {
  std::int64_t n, workers;

  std::int64_t First(std::int64_t worker) const {
    return worker * (n / workers) + std::min(worker, n % workers);
  }
};

template <class Range>
struct ShareOf {
  Range range;
  Shares shares;

  void operator()(std::int64_t worker) const { Run(range, shares.First(worker), shares.First(worker + 1)); }
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

inline std::int64_t WorkersFor(std::int64_t n, const HostSpace& space) {
  // NOLINTNEXTLINE(readability-static-accessed-through-instance): static in old versions of Kokkos only
  return std::min<std::int64_t>(n, space.concurrency());
}

/// Runs range(first, last) for parts that make up 0 ... n-1, on all that the host space has, and waits. `gpu`
/// is UseKokkos'.
template <class Range>
void RunOnHost(std::optional<int> gpu, std::int64_t n, const Range& range) {
  if (!kHostLoopsByKokkos || !UseKokkos(gpu)) return Run(range, 0, n);
  const HostSpace space;
  const std::int64_t workers = WorkersFor(n, space);
  Kokkos::parallel_for(Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::int64_t>>(space, 0, workers),
                       ShareOf<Range>{range, {n, workers}});
  Fence(space);
}

#undef FERRY_INDEPENDENT

}  // namespace ferry::detail
