// SPDX-License-Identifier: BSD-2-Clause
// What kernels by Kokkos need of CUDA: the current device, and the driver.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backends/cuda/cuda_runtime.hpp"
#include "backends/cuda/driver_function.hpp"
#include "backends/gpu/current_device.hpp"
#include "backends/gpu/current_device_by.hpp"

namespace ferry::gpu {
namespace {

using Cuda = CurrentDeviceBy<cuda::CudaRuntime>;

template <class Function, class... Arguments>
CUresult Call(const char* name, Arguments... arguments) {
  void* const function = cuda::DriverFunction(name);
  return function == nullptr ? CUDA_ERROR_NOT_INITIALIZED
                             : reinterpret_cast<Function>(function)(arguments...);
}

thread_local int pushed = 0;  ///< contexts, by way of this file

}  // namespace

CurrentDevice::CurrentDevice() : previous_(Cuda::Current()) {}
CurrentDevice::CurrentDevice(int index) : previous_(Cuda::Replace(index)) {}
CurrentDevice::CurrentDevice(const Stream& on) : CurrentDevice(on.device().properties().index) {
  Cuda::RequireWorking(on.handle());
}
CurrentDevice::~CurrentDevice() { Cuda::PutBack(previous_); }

bool CurrentDeviceWorks() noexcept { return cudaDeviceSynchronize() == cudaSuccess; }
bool StreamWorks(StreamHandle stream) noexcept { return Cuda::Works(stream); }

void CallLibrary(const char* call, const std::function<void()>& work) { Cuda::CallLibrary(call, work); }

void Upkeep(const std::function<void()>& work) {
  const struct Pop {
    int before = pushed;
    ~Pop() {
      CUcontext popped{};
      for (; pushed > before; --pushed)
        (void)Call<decltype(&cuCtxPopCurrent)>(FERRY_DRIVER_NAME(cuCtxPopCurrent), &popped);
    }
  } pop;
  Cuda::Upkeep(work);
}

int RuntimeVersion() noexcept { return CUDART_VERSION; }

}  // namespace ferry::gpu

// The three functions of the driver that Kokkos calls by name. Linked to libcuda.so.1, no program would start
// where there is no driver; these look for it when they are called, which is when there is a GPU. They are in
// this file because all kernels need CurrentDevice: so a linker has them from the archive when Kokkos asks.

#pragma GCC visibility push(hidden)
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return ferry::gpu::Call<decltype(&cuStreamGetCtx)>(FERRY_DRIVER_NAME(cuStreamGetCtx), stream, context);
}
CUresult cuCtxPushCurrent(CUcontext context) {
  const CUresult error =
      ferry::gpu::Call<decltype(&cuCtxPushCurrent)>(FERRY_DRIVER_NAME(cuCtxPushCurrent), context);
  if (error == CUDA_SUCCESS) ++ferry::gpu::pushed;
  return error;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return ferry::gpu::Call<decltype(&cuCtxGetDevice)>(FERRY_DRIVER_NAME(cuCtxGetDevice), device);
}
#pragma GCC visibility pop
