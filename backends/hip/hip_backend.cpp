// SPDX-License-Identifier: BSD-2-Clause
#include <unistd.h>

#include "backends/gpu/current_device_by.hpp"
#include "backends/gpu/describe.hpp"
#include "backends/gpu/gpu_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "backends/gpu/stream_pool.hpp"
#include "backends/hip/hip_runtime.hpp"
#include "backends/hip/ranges.hpp"
#include "ferry/backend.hpp"

namespace ferry::hip {
namespace {

int Count() noexcept {
  int count = 0;
  if (hipGetDeviceCount(&count) == hipSuccess) return count;
  (void)hipGetLastError();
  return 0;
}

/// What HIP's one error for it all leaves open.
std::string Driver() {
  constexpr const char* kDriver = "/dev/kfd";
  if (access(kDriver, F_OK) != 0) return std::string(kDriver) + " is not there: no amdgpu driver is loaded";
  if (access(kDriver, R_OK | W_OK) != 0)
    return std::string(kDriver) + " may not be opened: the user is not in the group render";
  return "the driver is there; HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide the GPUs";
}

std::string Missing() {
  int count = 0;
  const auto error = hipGetDeviceCount(&count);
  (void)hipGetLastError();
  return std::string(hipGetErrorString(error == hipSuccess ? hipErrorNoDevice : error)) + "; " + Driver() +
         "; this build is for HIP " + std::to_string(HIP_VERSION_MAJOR) + '.' +
         std::to_string(HIP_VERSION_MINOR);
}

}  // namespace

extern constinit const Backend kBackend = {
    .name = HipRuntime::kName,
    .count = Count,
    .describe = gpu::Describe<HipRuntime>,
    .make = [](int index) -> std::unique_ptr<Device> {
      return std::make_unique<gpu::StreamPoolDevice>(std::make_unique<gpu::GpuDevice<HipRuntime>>(index),
                                                     gpu::CurrentDeviceBy<HipRuntime>::StateOf);
    },
    .missing = Missing,
    .ranges = Ranges,
};

}  // namespace ferry::hip
