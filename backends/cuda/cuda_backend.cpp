// SPDX-License-Identifier: BSD-2-Clause
#include "backends/cuda/cuda_runtime.hpp"
#include "backends/cuda/ranges.hpp"
#include "backends/gpu/current_device_by.hpp"
#include "backends/gpu/describe.hpp"
#include "backends/gpu/gpu_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "backends/gpu/stream_pool.hpp"
#include "ferry/backend.hpp"

namespace ferry::cuda {
namespace {

int Count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

std::string Version(int number) {
  return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
}

/// CUDA has one error for a driver that is not there and for one that is too old.
std::string Missing() {
  int count = 0, driver = 0;
  const auto error = cudaGetDeviceCount(&count);
  (void)cudaDriverGetVersion(&driver);
  (void)cudaGetLastError();
  std::string text = cudaGetErrorString(error);
  if (error == cudaErrorInsufficientDriver)
    text += driver == 0 ? "; no driver is loaded" : "; the driver is for CUDA " + Version(driver);
  if (error == cudaErrorStubLibrary) text += "; the toolkit's stubs are on the library path";
  return text + "; this build is for CUDA " + Version(CUDART_VERSION);
}

}  // namespace

extern constinit const Backend kBackend = {
    .name = CudaRuntime::kName,
    .count = Count,
    .describe = gpu::Describe<CudaRuntime>,
    .make = [](int index) -> std::unique_ptr<Device> {
      return std::make_unique<gpu::StreamPoolDevice>(std::make_unique<gpu::GpuDevice<CudaRuntime>>(index),
                                                     gpu::CurrentDeviceBy<CudaRuntime>::StateOf);
    },
    .missing = Missing,
    .ranges = Ranges,
};

}  // namespace ferry::cuda
