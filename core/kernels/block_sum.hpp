// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ferry/detail/instruction_set.hpp"

namespace ferry::detail {

/// 32 KiB of floats: once more in double costs no memory traffic.
inline constexpr std::int64_t kTermsAtOnce = 8192;

/// What a reduction adds up. At<R>(i) is term i, computed in R.
template <class T>
struct AbsoluteOf {
  using Element = T;
  const T* x;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return std::fabs(static_cast<R>(x[i]));
  }
};

template <class T>
struct SquareOf {
  using Element = T;
  const T* x;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(x[i]);
  }
};

template <class T>
struct ProductOf {
  using Element = T;
  const T *x, *y;
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(y[i]);
  }
};

/// If x is among the first `bytes` bytes of its page, has the processor fetch as many from the next page,
/// which may be beyond the array: its own prefetchers end with a page, and sums would wait at the beginning
/// of each.
[[gnu::always_inline]] inline void PrefetchPage(const void* x, std::uintptr_t bytes) {
  constexpr std::uintptr_t kPage = 4096, kLine = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(x);
  if (first % kPage >= bytes) return;
  for (std::uintptr_t line = 0; line < bytes; line += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(first + kPage + line));
}

/// Terms first ... last-1. As many lanes as fit the widest register, so that the compiler may use it; each
/// adds four terms pairwise in R (for R float: at most 2 roundings of 6e-8, and the product's own), and the
/// rest in double.
template <class R, class Term>
[[gnu::always_inline]] inline double SumIn(const Term& term, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLanes = 16;
  double lanes[kLanes] = {};
  for (; first + 4 * kLanes <= last; first += 4 * kLanes) {
    PrefetchPage(term.x + first, 4 * kLanes * sizeof(*term.x));
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

/// In the elements' type, and again in double where a term or a sum on the way was too large for a float, or
/// terms may have been so small that they lost bits, or were flushed to zero.
template <class Term>
[[gnu::always_inline]] inline double SumOf(const Term& term, std::int64_t first, std::int64_t last) {
  const double sum = SumIn<typename Term::Element>(term, first, last);
  if constexpr (std::is_same_v<typename Term::Element, float>) {
    constexpr double kLeast = 0x1p-80;
    const bool done = std::fabs(sum) >= kLeast && std::fabs(sum) <= DBL_MAX;
    if (!done) return SumIn<double>(term, first, last);
  }
  return sum;
}

/// Fills sums[block] for a range of blocks of kTermsAtOnce terms each, the last perhaps shorter. Blocks, not
/// workers: so that the total is the same whoever computes them.
template <class Term>
struct BlockSums {
  static constexpr InstructionSet kWidest = InstructionSet::kAvx512;

  Term term;
  std::int64_t n;
  double* sums;

  static std::int64_t Blocks(std::int64_t n) { return n / kTermsAtOnce + (n % kTermsAtOnce != 0 ? 1 : 0); }

  [[gnu::always_inline]] void operator()(std::int64_t first, std::int64_t last) const {
    for (; first < last; ++first)
      sums[first] =
          SumOf(term, first * kTermsAtOnce, first < n / kTermsAtOnce ? (first + 1) * kTermsAtOnce : n);
  }
};

}  // namespace ferry::detail
