// SPDX-License-Identifier: BSD-2-Clause
#include "core/kernels/float_dot.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace ferry::detail {
namespace {

constexpr std::int64_t kLanes = 32;

/// Adds products 0 ... n-1 to the lanes, which are zero; n is a multiple of kLanes.
void AddByBaseline(std::int64_t n, const float* x, const float* y, double* lanes) {
  for (std::int64_t i = 0; i < n; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += static_cast<double>(x[i + lane]) * static_cast<double>(y[i + lane]);
}

// By hand: these convert as they load, while g++ 12 loads twice as wide and takes registers apart for it,
// which costs as much as the rest.
#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx2,fma")]] void AddByAvx2(std::int64_t n, const float* x, const float* y, double* lanes) {
  constexpr std::int64_t kWidth = 4;
  __m256d sums[kLanes / kWidth] = {};
  for (std::int64_t i = 0; i < n; i += kLanes) {
#pragma GCC unroll 8
    for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
      __m256d& sum = sums[lane / kWidth];
      sum = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(x + i + lane)),
                            _mm256_cvtps_pd(_mm_loadu_ps(y + i + lane)), sum);
    }
  }
  for (std::int64_t lane = 0; lane < kLanes; lane += kWidth)
    _mm256_storeu_pd(lanes + lane, sums[lane / kWidth]);
}

/// All eight by their mask, as g++ 12 warns of a value not initialised within the call without one.
[[gnu::target("avx512f")]] inline __m512d LoadEight(const float* from) {
  return _mm512_maskz_cvtps_pd(0xFF, _mm256_loadu_ps(from));
}

[[gnu::target("avx512f")]] void AddByAvx512(std::int64_t n, const float* x, const float* y, double* lanes) {
  constexpr std::int64_t kWidth = 8;
  __m512d sums[kLanes / kWidth] = {};
  for (std::int64_t i = 0; i < n; i += kLanes) {
#pragma GCC unroll 4
    for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
      __m512d& sum = sums[lane / kWidth];
      sum = _mm512_fmadd_pd(LoadEight(x + i + lane), LoadEight(y + i + lane), sum);
    }
  }
  for (std::int64_t lane = 0; lane < kLanes; lane += kWidth)
    _mm512_storeu_pd(lanes + lane, sums[lane / kWidth]);
}
#endif

void AddBy([[maybe_unused]] InstructionSet set, std::int64_t n, const float* x, const float* y,
           double* lanes) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (set == InstructionSet::kAvx512) return AddByAvx512(n, x, y, lanes);
  if (set == InstructionSet::kAvx2) return AddByAvx2(n, x, y, lanes);
#endif
  AddByBaseline(n, x, y, lanes);
}

}  // namespace

double SumOfProducts(std::int64_t n, const float* x, const float* y, InstructionSet set) noexcept {
  double lanes[kLanes] = {};
  const std::int64_t whole = n - n % kLanes;
  AddBy(set, whole, x, y, lanes);
  for (std::int64_t i = whole; i < n; ++i)
    lanes[i - whole] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

}  // namespace ferry::detail
