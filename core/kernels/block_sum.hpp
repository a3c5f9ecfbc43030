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

/// What a reduction adds up. At<R>(i) is term i, computed in R. kTogether of them are added in R: then no
/// float has been rounded more than three times, by 6e-8 each. Prefetch: PrefetchPage for each array.
template <class T>
struct AbsoluteOf {
  using Element = T;
  static constexpr int kTogether = 8;
  const T* x;
  [[gnu::always_inline]] void Prefetch(std::int64_t i, std::uintptr_t bytes) const {
    PrefetchPage(x + i, bytes);
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return std::fabs(static_cast<R>(x[i]));
  }
};

template <class T>
struct SquareOf {
  using Element = T;
  static constexpr int kTogether = 4;
  const T* x;
  [[gnu::always_inline]] void Prefetch(std::int64_t i, std::uintptr_t bytes) const {
    PrefetchPage(x + i, bytes);
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(x[i]);
  }
};

template <class T>
struct ProductOf {
  using Element = T;
  static constexpr int kTogether = 4;
  const T *x, *y;
  [[gnu::always_inline]] void Prefetch(std::int64_t i, std::uintptr_t bytes) const {
    PrefetchPage(x + i, bytes);
    PrefetchPage(y + i, bytes);
  }
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION R At(std::int64_t i) const {
    return static_cast<R>(x[i]) * static_cast<R>(y[i]);
  }
};

inline constexpr std::int64_t kSumLanes = 16;

/// So many terms of a lane, from term i on, added pairwise.
template <class R, int kTerms, class Term>
[[gnu::always_inline]] inline R Together(const Term& term, std::int64_t i) {
  if constexpr (kTerms == 1)
    return term.template At<R>(i);
  else
    return Together<R, kTerms / 2>(term, i) + Together<R, kTerms / 2>(term, i + kTerms / 2 * kSumLanes);
}

/// The sum of lanes: the upper half of them is added to the lower one, until one is left.
template <int kCount>
[[gnu::always_inline]] inline double Halved(const double (&lanes)[kCount]) {
  if constexpr (kCount == 1) return lanes[0];
  if constexpr (kCount > 1) {
    constexpr int kHalf = kCount / 2;
    double sums[kHalf];
    for (int lane = 0; lane < kHalf; ++lane) sums[lane] = lanes[lane] + lanes[lane + kHalf];
    return Halved(sums);
  }
}

/// Terms first ... last-1. As many lanes as fit the widest register, so that the compiler may use it; each
/// adds kTogether terms in R, and the rest in double.
template <class R, class Term>
[[gnu::always_inline]] inline double SumIn(const Term& term, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLanes = kSumLanes, kStep = kLanes * Term::kTogether;
  double lanes[kLanes] = {};
  for (; first + kStep <= last; first += kStep) {
    term.Prefetch(first, kStep * sizeof(typename Term::Element));
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += Together<R, Term::kTogether>(term, first + lane);
  }
  for (std::int64_t lane = 0; first < last; ++first, lane = (lane + 1) % kLanes)
    lanes[lane] += term.template At<double>(first);
  return Halved(lanes);
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
