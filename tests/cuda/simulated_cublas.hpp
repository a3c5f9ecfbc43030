// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cublas_v2.h>

/// cuBLAS' functions that Ferry calls, made of plain loops on the simulated GPU: for one source file.
namespace ferry::testing {

struct Cublas {
  int handles = 0;
  cublasStatus_t set_stream = CUBLAS_STATUS_SUCCESS, gemm = CUBLAS_STATUS_SUCCESS;  ///< what they return
};
inline Cublas cublas;

}  // namespace ferry::testing
