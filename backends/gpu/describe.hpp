// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "backends/gpu/runtime_calls.hpp"
#include "ferry/device.hpp"

namespace ferry::gpu {

/// A GPU's properties, which a runtime knows without making the GPU current. Throws DeviceError.
template <GpuRuntime Runtime>
DeviceProperties Describe(int index) {
  DeviceProperties properties;
  properties.backend = Runtime::kName;
  properties.index = index;
  Check<Runtime>("Describe", Runtime::Describe(index, properties), index);
  return properties;
}

}  // namespace ferry::gpu
