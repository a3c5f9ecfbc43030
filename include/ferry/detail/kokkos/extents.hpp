// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "ferry/detail/count.hpp"
#include "ferry/operand.hpp"

namespace ferry::detail {

/// How far a loop goes in each of its dims.
template <std::size_t N>
struct Extents {
  std::int64_t dims[N];
  std::int64_t count;
};
inline Extents<1> ExtentsOf(const char* call, std::int64_t n) {
  RequireCount(call, n);
  return {{n}, n};
}
template <std::size_t N>
Extents<N> ExtentsOf(const char* call, const std::int64_t (&dims)[N]) {
  Extents<N> extents{{}, CountOf(call, dims)};
  for (std::size_t axis = 0; axis < N; ++axis) extents.dims[axis] = dims[axis];
  return extents;
}

/// All of them as Kokkos goes through them: in more than one dim by tiles, the last dim fastest.
template <class Space, std::size_t N>
auto PolicyOn(const Space& space, const std::int64_t (&dims)[N]) {
  if constexpr (N == 1) {
    return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, dims[0]);
  } else {
    Kokkos::Array<std::int64_t, N> first{}, last{};
    for (std::size_t axis = 0; axis < N; ++axis) last[axis] = dims[axis];
    using Order = Kokkos::Rank<static_cast<unsigned>(N), Kokkos::Iterate::Right, Kokkos::Iterate::Right>;
    return Kokkos::MDRangePolicy<Space, Order, Kokkos::IndexType<std::int64_t>>(space, first, last);
  }
}

}  // namespace ferry::detail
