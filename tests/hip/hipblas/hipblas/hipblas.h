// SPDX-License-Identifier: BSD-2-Clause
// What Ferry calls of the library of this name.
#pragma once

#include <hip/hip_runtime_api.h>

extern "C" {

using hipblasHandle_t = void*;
enum hipblasStatus_t {
  HIPBLAS_STATUS_SUCCESS = 0,
  HIPBLAS_STATUS_NOT_INITIALIZED = 1,
  HIPBLAS_STATUS_EXECUTION_FAILED = 5
};
enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112 };

const char* hipblasStatusToString(hipblasStatus_t status);
hipblasStatus_t hipblasCreate(hipblasHandle_t* handle);
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle);
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream);
hipblasStatus_t hipblasSgemm(hipblasHandle_t handle, hipblasOperation_t transpose_a,
                             hipblasOperation_t transpose_b, int m, int n, int k, const float* alpha,
                             const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                             int ldc);
hipblasStatus_t hipblasDgemm(hipblasHandle_t handle, hipblasOperation_t transpose_a,
                             hipblasOperation_t transpose_b, int m, int n, int k, const double* alpha,
                             const double* a, int lda, const double* b, int ldb, const double* beta,
                             double* c, int ldc);

}  // extern "C"
