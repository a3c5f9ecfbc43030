// SPDX-License-Identifier: BSD-2-Clause
#include <cublas_v2.h>

#include <string>
#include <type_traits>

#include "backends/gpu/blas_gemm.hpp"
#include "ferry/cuda.hpp"
#include "ferry/detail/device_gemm.hpp"

namespace ferry {
namespace {

/// cuBLAS' names.
struct CuBlas {
  static constexpr const char* kName = "cublas";
  using Handle = cublasHandle_t;
  using Status = cublasStatus_t;
  static constexpr Status kSuccess = CUBLAS_STATUS_SUCCESS;
  static constexpr cublasOperation_t kAsItIs = CUBLAS_OP_N, kTransposed = CUBLAS_OP_T;
  static std::string StatusString(Status status) { return cublasGetStatusString(status); }
  static Status Create(Handle* handle) { return cublasCreate(handle); }
  static Status Destroy(Handle handle) { return cublasDestroy(handle); }
  static Status SetStream(Handle handle, cudaStream_t stream) { return cublasSetStream(handle, stream); }
  static cudaStream_t Native(const Stream& stream) { return cuda::Native(stream); }
  template <class T>
  static constexpr auto kGemm = [] {
    if constexpr (std::is_same_v<T, float>)
      return &cublasSgemm;
    else
      return &cublasDgemm;
  }();
};

}  // namespace

namespace detail {

template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c) {
  gpu::BlasGemm<CuBlas>(on, transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
}

template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, float, const float*,
                         const float*, float, float*);
template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, double, const double*,
                         const double*, double, double*);

}  // namespace detail
}  // namespace ferry
