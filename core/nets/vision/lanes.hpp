// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "ferry/kokkos.hpp"

/// Neighbouring elements in one register, by the vectors that GCC and Clang have for all processors: loops
/// over windows are too short for a compiler to make them.
namespace ferry::detail {

template <class T, int kLanes>
struct LanesOf {
  // NOLINTNEXTLINE(modernize-use-using): the attribute is for a typedef
  typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
};
template <class T>
struct LanesOf<T, 1> {
  using Type = T;
};
/// kLanes numbers; one lane is the number itself, so that the same expressions are for both.
template <class T, int kLanes>
using Lanes = typename LanesOf<T, kLanes>::Type;

/// As wide as T, so that a comparison of Ts selects between them.
template <class T>
using PositionOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// How many lanes code for the host has: one where Kokkos has a GPU, whose compiler need not know vectors.
template <class T>
inline constexpr int kHostLanes =
    std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>
        ? static_cast<int>(32 / sizeof(T))
        : 1;

template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto LaneOf(const V& lanes, int lane) {
  if constexpr (std::is_arithmetic_v<V>)
    return lanes;
  else
    return lanes[lane];
}

/// Which of the first `count` lanes are inside an image. What the lanes after these get does not matter.
struct LaneRange {
  std::int64_t first, last, count;
};

/// The columns of an image that lanes look at: lane i at column + i * stride, where `count` lanes count.
KOKKOS_FORCEINLINE_FUNCTION LaneRange LanesInside(std::int64_t column, std::int64_t stride,
                                                  std::int64_t width, std::int64_t count, int lanes) {
  LaneRange inside{0, lanes, count};
  if (column < 0) inside.first = (-column + stride - 1) / stride;
  if (column + (count - 1) * stride >= width)
    inside.last = column < width ? (width - column + stride - 1) / stride : 0;
  return inside;
}

/// An array, of which also unwanted elements may be read.
template <class T>
struct Source {
  const T* begin;
  const T* end;
};

/// x[i * stride] for each lane i inside, and `otherwise` for those outside. kStride is the stride where it is
/// known, or else 0.
template <class T, int kLanes, int kStride>
KOKKOS_FORCEINLINE_FUNCTION void Load(const Source<T>& source, const T* x, std::int64_t stride,
                                      LaneRange wanted, T otherwise, Lanes<T, kLanes>& lanes) {
  const std::int64_t step = kStride != 0 ? kStride : stride;
  if constexpr (kLanes == 1) {
    lanes = wanted.first < 1 && wanted.last > 0 ? *x : otherwise;
  } else if (x >= source.begin && x + (kLanes - 1) * step < source.end) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = x[lane * step];
    if (wanted.first > 0 || wanted.last < kLanes) {
      using Position = PositionOf<T>;
      Lanes<Position, kLanes> at{};
      for (int lane = 0; lane < kLanes; ++lane) at[lane] = lane;
      const auto some = (at >= static_cast<Position>(wanted.first < kLanes ? wanted.first : kLanes)) &
                        (at < static_cast<Position>(wanted.last < kLanes ? wanted.last : kLanes));
      lanes = some ? lanes : Lanes<T, kLanes>{} + otherwise;
    }
  } else {
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] =
          lane >= wanted.first && lane < wanted.last && lane < wanted.count ? x[lane * step] : otherwise;
  }
}

}  // namespace ferry::detail
