// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <miopen/miopen.h>

#include <string>

#include "ferry/hip.hpp"

namespace ferry::hip {

/// MIOpen's names.
struct DnnNames {
  static constexpr const char* kName = "miopen";
  using Handle = miopenHandle_t;
  using Status = miopenStatus_t;
  static constexpr Status kSuccess = miopenStatusSuccess;
  static bool Lacks(Status status) {
    return status == miopenStatusInvalidValue || status == miopenStatusBadParm ||
           status == miopenStatusNotImplemented;
  }
  static std::string StatusString(Status status) { return miopenGetErrorString(status); }
  static Status Create(Handle* handle) { return miopenCreate(handle); }
  static Status Destroy(Handle handle) { return miopenDestroy(handle); }
  static Status SetStream(Handle handle, hipStream_t stream) { return miopenSetStream(handle, stream); }
  static hipStream_t Native(const Stream& stream) { return hip::Native(stream); }
};

}  // namespace ferry::hip
