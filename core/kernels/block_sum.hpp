// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/kernels/float_dot.hpp"
#include "ferry/detail/instruction_set.hpp"

namespace ferry::detail {

/// 32 KiB of floats: once more in double costs no memory traffic.
inline constexpr std::int64_t kTermsAtOnce = 8192;

/// What a reduction adds up. At<R>(i) is term i, computed in R; Fast is the type that is fast and exact
/// enough; kBlock terms are summed at once.
template <class T>
struct AbsoluteOf {
  using Fast = T;
  static constexpr std::int64_t kBlock = kTermsAtOnce;
  const T* x;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return std::fabs(static_cast<R>(x[i]));
  }
};

template <class T>
struct SquareOf {
  using Fast = T;
  static constexpr std::int64_t kBlock = kTermsAtOnce;
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
  static constexpr std::int64_t kBlock = 2 * kTermsAtOnce;
  const T *x, *y;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(y[i]);
  }
};

/// Has the processor fetch `bytes` bytes that lie 4 KiB behind x, which may be beyond the array: its own
/// prefetchers end with a page, and sums would wait at the beginning of each.
[[gnu::always_inline]] inline void Prefetch(const void* x, std::uintptr_t bytes) {
  constexpr std::uintptr_t kAhead = 4096, kLine = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(x) + kAhead;
  for (std::uintptr_t line = 0; line < bytes; line += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(first + line));
}

/// Terms first ... last-1. As many lanes as fit the widest register, so that the compiler may use it; each
/// adds four terms pairwise in R (for R float: at most 2 roundings of 6e-8, and the square's own), and the
/// rest in double.
template <class R, class Term>
[[gnu::always_inline]] inline double SumIn(const Term& term, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLanes = 16;
  double lanes[kLanes] = {};
  for (; first + 4 * kLanes <= last; first += 4 * kLanes) {
    Prefetch(term.x + first, 4 * kLanes * sizeof(*term.x));
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const std::int64_t i = first + lane;
      const R low = term.template At<R>(i) + term.template At<R>(i + kLanes);
      const R high = term.template At<R>(i + 2 * kLanes) + term.template At<R>(i + 3 * kLanes);
      lanes[lane] += low + high;
    }
  }
  for (std::int64_t lane = 0; first < last; ++first, lane = (lane + 1) % kLanes)
    lanes[lane] += term.template At<double>(first);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// In the type that is fast, and again in double where that did not do.
template <class Term>
[[gnu::always_inline]] inline double SumOf(const Term& term, std::int64_t first, std::int64_t last) {
  const double sum = SumIn<typename Term::Fast>(term, first, last);
  if constexpr (std::is_same_v<typename Term::Fast, float>) {
    // Too large for a float on the way, or so small that terms may have lost bits.
    constexpr double kLeast = 0x1p-100;
    const bool exact = sum >= kLeast && sum <= DBL_MAX;
    if (!exact) return SumIn<double>(term, first, last);
  }
  return sum;
}
inline double SumOf(const ProductOf<float>& term, std::int64_t first, std::int64_t last) {
  return SumOfProducts(last - first, term.x + first, term.y + first);
}

/// Fills sums[block] for a range of blocks of kBlock terms each, the last perhaps shorter. Blocks, not
/// workers: so that the total is the same whoever computes them.
template <class Term>
struct BlockSums {
  static constexpr InstructionSet kWidest = InstructionSet::kAvx512;
  static constexpr std::int64_t kBlock = Term::kBlock;

  Term term;
  std::int64_t n;
  double* sums;

  static std::int64_t Blocks(std::int64_t n) { return n / kBlock + (n % kBlock != 0 ? 1 : 0); }

  [[gnu::always_inline]] void operator()(std::int64_t first, std::int64_t last) const {
    for (; first < last; ++first)
      sums[first] = SumOf(term, first * kBlock, first < n / kBlock ? (first + 1) * kBlock : n);
  }
};

}  // namespace ferry::detail
