// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ferry/detail/instruction_set.hpp"

namespace ferry::detail {

/// What a reduction adds up. At<R>(i) is term i, computed in R; kFast is the type that is fast and exact
/// enough.
template <class T>
struct AbsoluteOf {
  using Fast = T;
  const T* x;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return std::fabs(static_cast<R>(x[i]));
  }
};

template <class T>
struct SquareOf {
  using Fast = T;
  const T* x;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(x[i]);
  }
};

/// In double, where products of floats are exact: terms may cancel.
template <class T>
struct ProductOf {
  using Fast = double;
  const T *x, *y;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(y[i]);
  }
};

/// Terms first ... last-1. As many lanes as fit the widest register, so that the compiler may use it; each
/// adds four terms pairwise in R (for R float: at most 2 roundings of 6e-8, and the square's own), and the
/// rest in double.
template <class R, class Term>
KOKKOS_FORCEINLINE_FUNCTION double SumIn(const Term& term, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLanes = 16;
  double lanes[kLanes] = {};
  for (; first + 4 * kLanes <= last; first += 4 * kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const std::int64_t i = first + lane;
      const R low = term.template At<R>(i) + term.template At<R>(i + kLanes);
      const R high = term.template At<R>(i + 2 * kLanes) + term.template At<R>(i + 3 * kLanes);
      lanes[lane] += low + high;
    }
  for (std::int64_t lane = 0; first < last; ++first, lane = (lane + 1) % kLanes)
    lanes[lane] += term.template At<double>(first);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// Fills sums[block] for a range of blocks of `block` terms each, the last perhaps shorter. Blocks, not
/// workers: so that the total is the same whoever computes them.
template <class Term>
struct BlockSums {
  static constexpr InstructionSet kWidest = InstructionSet::kAvx512;
  static constexpr std::int64_t kBlock =
      8192;  // 32 KiB of floats: once more in double costs no memory traffic

  Term term;
  std::int64_t n;
  double* sums;

  static std::int64_t Blocks(std::int64_t n) { return n / kBlock + (n % kBlock != 0 ? 1 : 0); }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    for (; first < last; ++first)
      sums[first] = Sum(first * kBlock, first < n / kBlock ? (first + 1) * kBlock : n);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double Sum(std::int64_t first, std::int64_t last) const {
    const double sum = SumIn<typename Term::Fast>(term, first, last);
    if constexpr (std::is_same_v<typename Term::Fast, float>) {
      // Too large for a float on the way, or so small that terms may have lost bits.
      constexpr double kLeast = 0x1p-100;
      const bool exact = sum >= kLeast && sum <= DBL_MAX;
      if (!exact) return SumIn<double>(term, first, last);
    }
    return sum;
  }
};

}  // namespace ferry::detail
