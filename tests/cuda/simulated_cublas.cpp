// SPDX-License-Identifier: BSD-2-Clause
#include <cublas_v2.h>

#include "tests/gpu/simulated_blas.hpp"

using ferry::testing::blas;
using ferry::testing::BlasHandle;

namespace {

BlasHandle* Simulated(cublasHandle_t handle) { return reinterpret_cast<BlasHandle*>(handle); }

template <class T>
cublasStatus_t Gemm(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b,
                    int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,
                    const T* beta, T* c, int ldc) {
  const bool queued =
      ferry::testing::BlasGemm(*Simulated(handle), transpose_a == CUBLAS_OP_T, transpose_b == CUBLAS_OP_T, m,
                               n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  return queued ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

const char* cublasGetStatusString(cublasStatus_t) { return "an error of the simulated BLAS"; }
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(ferry::testing::MakeBlasHandle());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  ferry::testing::DestroyBlasHandle(Simulated(handle));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  Simulated(handle)->stream = stream;
  return blas.refuses_stream ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transpose_a,
                           cublasOperation_t transpose_b, int m, int n, int k, const float* alpha,
                           const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                           int ldc) {
  return Gemm(handle, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transpose_a,
                           cublasOperation_t transpose_b, int m, int n, int k, const double* alpha,
                           const double* a, int lda, const double* b, int ldb, const double* beta, double* c,
                           int ldc) {
  return Gemm(handle, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // extern "C"
