// SPDX-License-Identifier: BSD-2-Clause
#include "tests/cuda/simulated_cublas.hpp"

#include "tests/gpu/simulated.hpp"

using ferry::simulated::Expect;
using ferry::testing::cublas;

/// A library's handle is for the device that was current when it was made.
struct cublasContext {
  int device;
  cudaStream_t stream;
};

namespace {

/// Matrices lie column by column.
template <class T>
cublasStatus_t Gemm(cublasHandle_t handle, cublasOperation_t transpose_a, cublasOperation_t transpose_b,
                    int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,
                    const T* beta, T* c, int ldc) {
  Expect(ferry::sim::CurrentDevice() == handle->device, __func__);
  Expect(lda >= (transpose_a == CUBLAS_OP_N ? m : k) && ldb >= (transpose_b == CUBLAS_OP_N ? k : n),
         __func__);
  Expect(ldc >= m, __func__);
  if (cublas.gemm != CUBLAS_STATUS_SUCCESS) return cublas.gemm;
  const auto error = ferry::simulated::Attempt([&] {
    ferry::sim::LaunchHostCode(
        handle->device, ferry::simulated::Handle(handle->stream), {a, b, c},
        [=, alpha = *alpha, beta = *beta] {
          for (int row = 0; row < m; ++row)
            for (int column = 0; column < n; ++column) {
              T sum = 0;
              for (int l = 0; l < k; ++l)
                sum += a[transpose_a == CUBLAS_OP_N ? row + l * lda : l + row * lda] *
                       b[transpose_b == CUBLAS_OP_N ? l + column * ldb : column + l * ldb];
              T& to = c[row + column * ldc];
              to = alpha * sum + (beta == 0 ? 0 : beta * to);
            }
        });
  });
  return error == ferry::sim::SimRuntime::kSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

const char* cublasGetStatusString(cublasStatus_t) { return "an error of the simulated cuBLAS"; }
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  ++cublas.handles;
  return *handle = new cublasContext{ferry::sim::CurrentDevice(), nullptr}, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  Expect(ferry::sim::CurrentDevice() == handle->device, __func__);
  --cublas.handles;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, cublas.set_stream;
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
