// SPDX-License-Identifier: BSD-2-Clause
// CUDA's functions, those that Ferry and its tests call, made of the simulated GPU; see
// tests/gpu/simulated.hpp. One that is missing here would come from CUDA's own library, and that one's others
// would then be there twice: such a program does not link.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "backends/sim/machine.hpp"
#include "tests/cuda/kernel.hpp"

#define FERRY_VENDOR(name) cuda##name
#define FERRY_EVENT_FLAGS cudaEventDisableTiming
#include "tests/gpu/simulated_functions.hpp"

namespace {

using namespace ferry::simulated;
namespace sim = ferry::sim;

const Session session({.zero_bytes = true, .refuses_as_invalid = true, .capture_spreads = true});

cudaError_t Describe(int device, ferry::DeviceProperties& properties) {
  return Give(SimRuntime::Describe(device, properties));
}

}  // namespace

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  ferry::DeviceProperties its;
  if (const auto error = Describe(device, its); error != cudaSuccess) return error;
  std::memset(properties, 0, sizeof *properties);
  its.name.copy(properties->name, sizeof properties->name - 1);
  properties->totalGlobalMem = its.memory;
  properties->major = 9;
  properties->warpSize = its.wavefront;
  properties->memoryPoolsSupported = its.memory_pools;
  properties->concurrentManagedAccess = 1;
  properties->pageableMemoryAccessUsesHostPageTables = its.unified;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  Expect(attribute == cudaDevAttrMemoryPoolsSupported, __func__);
  ferry::DeviceProperties its;
  const auto error = Describe(device, its);
  return *value = its.memory_pools, error;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  Expect(attribute == cudaMemPoolAttrReleaseThreshold, __func__);
  auto& its = *reinterpret_cast<Pool*>(pool);
  std::memcpy(&its.threshold, value, sizeof(Pool::threshold));
  return Give(SimRuntime::KeepFreedMemory(its.device));
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  Expect(attribute == cudaMemPoolAttrReleaseThreshold, __func__);
  std::memcpy(value, &reinterpret_cast<Pool*>(pool)->threshold, sizeof(Pool::threshold));
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** ptr, std::size_t bytes) { return Give(SimRuntime::MallocHost(ptr, bytes)); }
cudaError_t cudaHostAlloc(void** ptr, std::size_t bytes, unsigned flags) {
  Expect(flags == cudaHostAllocDefault, __func__);
  return cudaMallocHost(ptr, bytes);
}
cudaError_t cudaFreeHost(void* ptr) { return Give(SimRuntime::FreeHost(ptr)); }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
  const auto owner = OwnerOf(ptr);
  *attributes = {};
  if (!owner) return cudaSuccess;
  attributes->device = owner->device;
  attributes->type = owner->kind == ferry::MemoryKind::kDevice    ? cudaMemoryTypeDevice
                     : owner->kind == ferry::MemoryKind::kManaged ? cudaMemoryTypeManaged
                                                                  : cudaMemoryTypeHost;
  return cudaSuccess;
}

}  // extern "C"

// The driver's: contexts, and for tests/cuda/kernel.hpp functions, each of which is one of its kernels.
namespace {

CUresult PrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  bool its = false;
  const auto error = SimRuntime::ContextIsActive(device, &its);
  *flags = 0;
  *active = its;
  return static_cast<CUresult>(error);
}
/// A context's handle is its device's number, from 1. The calling thread's that lie below the current one, as
/// the numbers of their devices:
thread_local std::vector<int> contexts_below;

CUresult StreamGetCtx(CUstream stream, CUcontext* context) {
  return static_cast<CUresult>(
      sim::Enter("cuStreamGetCtx", sim::Faults::kInstead, [&](const sim::Call& call, sim::Lock&) {
        const auto queue =
            sim::machine().Get(call, static_cast<std::uintptr_t>(Handle(stream)), std::nullopt);
        if (queue == nullptr) return SimRuntime::kInvalidHandle;
        *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(queue->device) + 1);
        return SimRuntime::kSuccess;
      }));
}
CUresult CtxPushCurrent(CUcontext context) {
  contexts_below.push_back(sim::CurrentDevice());
  sim::SetCurrentDevice(static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1);
  return CUDA_SUCCESS;
}
CUresult CtxPopCurrent(CUcontext* context) {
  if (contexts_below.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(sim::CurrentDevice()) + 1);
  sim::SetCurrentDevice(contexts_below.back());
  contexts_below.pop_back();
  return CUDA_SUCCESS;
}
CUresult CtxGetDevice(CUdevice* device) {
  *device = sim::CurrentDevice();
  return CUDA_SUCCESS;
}
CUresult LoadModule(CUmodule* module, const void*) { return *module = {}, CUDA_SUCCESS; }
CUresult UnloadModule(CUmodule) { return CUDA_SUCCESS; }
CUresult GetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = KernelOf<CUfunction>(name);
  return CUDA_SUCCESS;
}
CUresult LaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, CUstream on, void**, void**) {
  return static_cast<CUresult>(Launch(function, on));
}

}  // namespace

void* ferry::cuda::DriverFunction(const char* name) noexcept {
  static const std::map<std::string, void*> functions = {
      {"cuDevicePrimaryCtxGetState", reinterpret_cast<void*>(PrimaryCtxGetState)},
      {FERRY_DRIVER_NAME(cuStreamGetCtx), reinterpret_cast<void*>(StreamGetCtx)},
      {FERRY_DRIVER_NAME(cuCtxPushCurrent), reinterpret_cast<void*>(CtxPushCurrent)},
      {FERRY_DRIVER_NAME(cuCtxPopCurrent), reinterpret_cast<void*>(CtxPopCurrent)},
      {FERRY_DRIVER_NAME(cuCtxGetDevice), reinterpret_cast<void*>(CtxGetDevice)},
      {"cuModuleLoadData", reinterpret_cast<void*>(LoadModule)},
      {"cuModuleUnload", reinterpret_cast<void*>(UnloadModule)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(GetFunction)},
      {"cuLaunchKernel", reinterpret_cast<void*>(LaunchKernel)},
  };
  return functions.at(name);
}
