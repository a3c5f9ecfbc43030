// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cudnn.h>

#include <string>

#include "ferry/cuda.hpp"

namespace ferry::cuda {

/// cuDNN's names.
struct DnnNames {
  static constexpr const char* kName = "cudnn";
  using Handle = cudnnHandle_t;
  using Status = cudnnStatus_t;
  static constexpr Status kSuccess = CUDNN_STATUS_SUCCESS;
  static bool Lacks(Status status) {
    const int category = CUDNN_STATUS_CATEGORY(status);
    return category == CUDNN_STATUS_BAD_PARAM || category == CUDNN_STATUS_NOT_SUPPORTED;
  }
  static std::string StatusString(Status status) { return cudnnGetErrorString(status); }
  static Status Create(Handle* handle) { return cudnnCreate(handle); }
  static Status Destroy(Handle handle) { return cudnnDestroy(handle); }
  static Status SetStream(Handle handle, cudaStream_t stream) { return cudnnSetStream(handle, stream); }
  static cudaStream_t Native(const Stream& stream) { return cuda::Native(stream); }
};

}  // namespace ferry::cuda
