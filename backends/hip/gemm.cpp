// SPDX-License-Identifier: BSD-2-Clause
#include <hipblas/hipblas.h>

#include <string>
#include <type_traits>

#include "backends/gpu/blas_gemm.hpp"
#include "ferry/detail/device_gemm.hpp"
#include "ferry/hip.hpp"

namespace ferry {
namespace {

/// hipBLAS' names.
struct HipBlas {
  static constexpr const char* kName = "hipblas";
  using Handle = hipblasHandle_t;
  using Status = hipblasStatus_t;
  static constexpr Status kSuccess = HIPBLAS_STATUS_SUCCESS;
  static constexpr hipblasOperation_t kAsItIs = HIPBLAS_OP_N, kTransposed = HIPBLAS_OP_T;
  static std::string StatusString(Status status) { return hipblasStatusToString(status); }
  static Status Create(Handle* handle) { return hipblasCreate(handle); }
  static Status Destroy(Handle handle) { return hipblasDestroy(handle); }
  static Status SetStream(Handle handle, hipStream_t stream) { return hipblasSetStream(handle, stream); }
  static hipStream_t Native(const Stream& stream) { return hip::Native(stream); }
  template <class T>
  static constexpr auto kGemm = [] {
    if constexpr (std::is_same_v<T, float>)
      return &hipblasSgemm;
    else
      return &hipblasDgemm;
  }();
};

}  // namespace

namespace detail {

template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c) {
  gpu::BlasGemm<HipBlas>(on, transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
}

template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, float, const float*,
                         const float*, float, float*);
template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, double, const double*,
                         const double*, double, double*);

}  // namespace detail
}  // namespace ferry
