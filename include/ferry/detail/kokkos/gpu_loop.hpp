// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ferry/detail/kokkos/extents.hpp"

/// Loops on a GPU.
namespace ferry::detail {

/// A thread's share of a loop of one dim.
template <class Functor>
struct ThreadsShare {
  Functor functor;
  std::int64_t n, threads;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t first) const {
    for (std::int64_t i = first; i < n; i += threads) functor(i);
  }
};
/// How many threads share n indices where so many run at once: four each, if that leaves none idle. To start
/// a thread costs more than what many bodies do.
constexpr std::int64_t ThreadsFor(std::int64_t n, std::int64_t at_once) {
  constexpr std::int64_t kEach = 4;
  return std::max(std::min(n, at_once), n / kEach + (n % kEach != 0 ? 1 : 0));
}

/// A loop on a GPU.
template <class Functor, std::size_t N>
struct LoopOn {
  Extents<N> extents;
  Functor functor;

  template <class Space>
  void operator()(const Space& space) const {
    if constexpr (N == 1) {
      const std::int64_t threads = ThreadsFor(extents.count, space.concurrency());
      Kokkos::parallel_for(PolicyOn(space, {threads}),
                           ThreadsShare<Functor>{functor, extents.count, threads});
    } else {
      Kokkos::parallel_for(PolicyOn(space, extents.dims), functor);
    }
  }
};

}  // namespace ferry::detail
