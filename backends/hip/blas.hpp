// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <hipblas/hipblas.h>

#include <string>
#include <type_traits>

#include "ferry/hip.hpp"

namespace ferry::hip {

/// hipBLAS' names.
struct BlasNames {
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

}  // namespace ferry::hip
