// SPDX-License-Identifier: BSD-2-Clause
// What kernels by Kokkos need of CUDA: the current device, and the driver.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "backends/cuda/cuda_runtime.hpp"
#include "backends/gpu/current_device.hpp"
#include "backends/gpu/current_device_by.hpp"

namespace ferry::gpu {
namespace {

using Cuda = CurrentDeviceBy<cuda::CudaRuntime>;

template <class Function, class... Arguments>
CUresult Call(const char* name, Arguments... arguments) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const function = driver == nullptr ? nullptr : dlsym(driver, name);
  return function == nullptr ? CUDA_ERROR_NOT_INITIALIZED
                             : reinterpret_cast<Function>(function)(arguments...);
}

}  // namespace

CurrentDevice::CurrentDevice(int index) : previous_(Cuda::Replace(index)) {}
CurrentDevice::CurrentDevice(const Stream& on) : CurrentDevice(on.device().properties().index) {
  Cuda::RequireWorking(on.handle());
}
CurrentDevice::~CurrentDevice() { (void)cudaSetDevice(previous_); }

bool CurrentDeviceWorks() noexcept { return cudaDeviceSynchronize() == cudaSuccess; }

}  // namespace ferry::gpu

// The three functions of the driver that Kokkos calls by name. Linked to libcuda.so.1, no program would start
// where there is no driver; these look for it when they are called, which is when there is a GPU. They are in
// this file because all kernels need CurrentDevice: so a linker has them from the archive when Kokkos asks.

// The names that cuda.h gives to the versions of its functions.
#define FERRY_STRING(name) #name
#define FERRY_NAME(function) FERRY_STRING(function)

#pragma GCC visibility push(hidden)
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return ferry::gpu::Call<decltype(&cuStreamGetCtx)>(FERRY_NAME(cuStreamGetCtx), stream, context);
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return ferry::gpu::Call<decltype(&cuCtxPushCurrent)>(FERRY_NAME(cuCtxPushCurrent), context);
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return ferry::gpu::Call<decltype(&cuCtxGetDevice)>(FERRY_NAME(cuCtxGetDevice), device);
}
#pragma GCC visibility pop
