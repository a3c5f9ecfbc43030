// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// Gemm for a device that has no BLAS, an element of C each: right, and slow. For ParallelFor over m * n.
template <class T>
struct PlainGemm {
  Transpose transpose_a, transpose_b;
  std::int64_t m, n, k;
  T alpha, beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const T* a, const T* b, T* c) const {
    const std::int64_t row = i / n, column = i % n;
    double sum = 0;
    for (std::int64_t l = 0; l < k; ++l)
      sum += static_cast<double>(a[transpose_a == Transpose::kNo ? row * k + l : l * m + row]) *
             static_cast<double>(b[transpose_b == Transpose::kNo ? l * n + column : column * k + l]);
    const T product = alpha * static_cast<T>(sum);
    c[i] = beta == 0 ? product : product + beta * c[i];  // 0 also of what is no number
  }
};

}  // namespace ferry::detail
