// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cublas_v2.h>

#include <string>
#include <type_traits>

#include "ferry/cuda.hpp"

namespace ferry::cuda {

/// cuBLAS' names.
struct BlasNames {
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

}  // namespace ferry::cuda
