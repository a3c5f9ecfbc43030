// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ferry/detail/kokkos/extents.hpp"

/// Loops on a GPU.
namespace ferry::detail {

/// How many threads share n indices where so many run at once: four each, if that leaves none idle. To start
/// a thread costs more than what many bodies do.
constexpr std::int64_t ThreadsFor(std::int64_t n, std::int64_t at_once) {
  constexpr std::int64_t kEach = 4;
  return std::max(std::min(n, at_once), n / kEach + (n % kEach != 0 ? 1 : 0));
}

/// What each of some threads does of a loop of one dim.
template <class Functor>
struct ThreadsShare {
  Functor functor;
  std::int64_t n, threads;

  ThreadsShare(const Functor& loop, std::int64_t count, std::int64_t at_once)
      : functor(loop), n(count), threads(ThreadsFor(count, at_once)) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t first) const {
    for (std::int64_t i = first; i < n; i += threads) functor(i);
  }
};

/// A loop on a GPU. One of one dim is done by the threads of a Share.
template <class Functor, std::size_t N, template <class> class Share = ThreadsShare>
struct LoopOn {
  Extents<N> extents;
  Functor functor;

  template <class Space>
  void operator()(const Space& space) const {
    if constexpr (N == 1) {
      const Share<Functor> share(functor, extents.count, space.concurrency());
      Kokkos::parallel_for(PolicyOn(space, {share.threads}), share);
    } else {
      Kokkos::parallel_for(PolicyOn(space, extents.dims), functor);
    }
  }
};

}  // namespace ferry::detail
