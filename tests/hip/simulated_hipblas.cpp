// SPDX-License-Identifier: BSD-2-Clause
#include <hipblas/hipblas.h>

#include "tests/gpu/simulated_blas.hpp"

using ferry::testing::blas;
using ferry::testing::BlasHandle;

namespace {

BlasHandle* Simulated(hipblasHandle_t handle) { return static_cast<BlasHandle*>(handle); }

template <class T>
hipblasStatus_t Gemm(hipblasHandle_t handle, hipblasOperation_t transpose_a, hipblasOperation_t transpose_b,
                     int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,
                     const T* beta, T* c, int ldc) {
  const bool queued =
      ferry::testing::BlasGemm(*Simulated(handle), transpose_a == HIPBLAS_OP_T, transpose_b == HIPBLAS_OP_T,
                               m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return queued ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

const char* hipblasStatusToString(hipblasStatus_t) { return "an error of the simulated BLAS"; }
hipblasStatus_t hipblasCreate(hipblasHandle_t* handle) {
  *handle = ferry::testing::MakeBlasHandle();
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle) {
  ferry::testing::DestroyBlasHandle(Simulated(handle));
  return HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream) {
  Simulated(handle)->stream = stream;
  return blas.refuses_stream ? HIPBLAS_STATUS_NOT_INITIALIZED : HIPBLAS_STATUS_SUCCESS;
}
hipblasStatus_t hipblasSgemm(hipblasHandle_t handle, hipblasOperation_t transpose_a,
                             hipblasOperation_t transpose_b, int m, int n, int k, const float* alpha,
                             const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                             int ldc) {
  return Gemm(handle, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
hipblasStatus_t hipblasDgemm(hipblasHandle_t handle, hipblasOperation_t transpose_a,
                             hipblasOperation_t transpose_b, int m, int n, int k, const double* alpha,
                             const double* a, int lda, const double* b, int ldb, const double* beta,
                             double* c, int ldc) {
  return Gemm(handle, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // extern "C"
