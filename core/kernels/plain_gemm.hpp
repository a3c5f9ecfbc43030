// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/detail/device_gemm.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// Gemm for a device that has no BLAS, an element of C each: right, and slow. For ParallelFor over m * n.
template <class T>
struct PlainGemm {
  IntGemmSizes sizes;
  T alpha, beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const T* a, const T* b, T* c) const {
    const std::int64_t row = i / sizes.n, column = i % sizes.n, lda = sizes.lda, ldb = sizes.ldb;
    double sum = 0;
    for (std::int64_t l = 0; l < sizes.k; ++l)
      sum +=
          static_cast<double>(a[sizes.transpose_a == Transpose::kNo ? row * lda + l : l * lda + row]) *
          static_cast<double>(b[sizes.transpose_b == Transpose::kNo ? l * ldb + column : column * ldb + l]);
    const T product = alpha * static_cast<T>(sum);
    T& to = c[row * sizes.ldc + column];
    to = beta == 0 ? product : product + beta * to;  // 0 also of what is no number
  }
};

}  // namespace ferry::detail
