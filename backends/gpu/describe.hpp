// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "backends/gpu/gpu_runtime.hpp"
#include "ferry/device.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {

/// A GPU's properties, which a runtime knows without making the GPU current. Throws DeviceError.
template <GpuRuntime Runtime>
DeviceProperties Describe(int index) {
  DeviceProperties properties;
  properties.backend = Runtime::kName;
  properties.index = index;
  const auto error = Runtime::Describe(index, properties);
  if (error == Runtime::kSuccess) return properties;
  (void)Runtime::GetLastError();
  throw DeviceError(properties.backend + " Describe", static_cast<int>(error),
                    std::string(Runtime::GetErrorName(error)) + ", " + Runtime::GetErrorString(error) +
                        ", on " + properties.backend + ':' + std::to_string(index));
}

}  // namespace ferry::gpu
