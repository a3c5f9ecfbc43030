// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/kernels.hpp"

namespace ferry::detail {

/// GemmSizes and GemmStrides in the int that BLAS counts in. None is 0.
struct IntGemmSizes {
  Transpose transpose_a, transpose_b;
  int m, n, k, lda, ldb, ldc;
};

/// The vendor's BLAS behind Gemm, for devices whose kernels are DeviceSpace's. A build for such a backend
/// defines it for float and double.
template <Real T>
void DeviceGemm(const Stream& on, const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c);

}  // namespace ferry::detail
