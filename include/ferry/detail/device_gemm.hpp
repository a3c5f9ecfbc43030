// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kernels.hpp"

namespace ferry::detail {

/// From one row of a matrix, as it lies in memory, to the next.
struct GemmStrides {
  std::int64_t a, b, c;
};

/// GemmSizes and GemmStrides in the int that BLAS counts in.
struct IntGemmSizes {
  Transpose transpose_a, transpose_b;
  int m, n, k, lda, ldb, ldc;
};

/// Throws std::invalid_argument for a size below 0, and ShapeError for what is over int.
IntGemmSizes IntGemmSizesOf(const GemmSizes& sizes, const GemmStrides& strides);

/// The vendor's BLAS behind Gemm, for devices whose kernels are DeviceSpace's. No size is 0. A build for such
/// a backend defines it for float and double.
template <Real T>
void DeviceGemm(const Stream& on, const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c);

}  // namespace ferry::detail
