// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// The sum of n elements beside each other, in the same order everywhere: one that vectors can keep.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T Sum(const T* x, std::int64_t n) {
  constexpr int kSums = 16;
  T sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int lane = 0; lane < kSums; ++lane) sums[lane] += x[i + lane];
  for (int lane = 0; i + lane < n; ++lane) sums[lane] += x[i + lane];
  for (int half = kSums / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

}  // namespace ferry::detail
