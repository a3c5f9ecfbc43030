// SPDX-License-Identifier: BSD-2-Clause
// CUDA's functions, those that Ferry and its tests call, made of the simulated GPU; see
// tests/gpu/simulated.hpp. One that is missing here would come from CUDA's own library, and that one's others
// would then be there twice: such a program does not link.
#include "tests/gpu/simulated.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <map>

#include "tests/cuda/kernel.hpp"

namespace {

using namespace ferry::simulated;

const Session session({.zero_bytes = true, .capture_spreads = true});

cudaError_t Cuda(SimRuntime::Error error) { return As<cudaError_t>(error); }

/// What frees do with a pool's memory.
std::map<cudaMemPool_t, std::uint64_t>& Thresholds() {
  static auto& thresholds = *new std::map<cudaMemPool_t, std::uint64_t>;
  return thresholds;
}
cudaMemPool_t PoolOf(int device) { return reinterpret_cast<cudaMemPool_t>(0x1000 + device); }

cudaError_t Describe(int device, ferry::DeviceProperties& properties) {
  return Cuda(SimRuntime::Describe(device, properties));
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  return SimRuntime::GetErrorName(static_cast<SimRuntime::Error>(error));
}
const char* cudaGetErrorString(cudaError_t error) {
  return SimRuntime::GetErrorString(static_cast<SimRuntime::Error>(error));
}
cudaError_t cudaGetLastError() { return Cuda(SimRuntime::GetLastError()); }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) { return Cuda(Count(count)); }
cudaError_t cudaGetDevice(int* device) { return Cuda(SimRuntime::GetDevice(device)); }
cudaError_t cudaSetDevice(int device) { return Cuda(SimRuntime::SetDevice(device)); }
cudaError_t cudaDeviceSynchronize() { return Cuda(SimRuntime::DeviceSynchronize()); }
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
cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) { return Cuda(PciIdOf(id, size, device)); }
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) { return Cuda(DeviceByPciId(device, id)); }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  ferry::DeviceProperties its;
  if (const auto error = Describe(device, its); error != cudaSuccess) return error;
  if (!its.memory_pools) return cudaErrorNotSupported;
  return *pool = PoolOf(device), cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  Expect(attribute == cudaMemPoolAttrReleaseThreshold, __func__);
  return Thresholds()[pool] = *static_cast<std::uint64_t*>(value), cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  Expect(attribute == cudaMemPoolAttrReleaseThreshold, __func__);
  return *static_cast<std::uint64_t*>(value) = Thresholds()[pool], cudaSuccess;
}

cudaError_t cudaMalloc(void** ptr, std::size_t bytes) { return Cuda(SimRuntime::Malloc(ptr, bytes)); }
cudaError_t cudaMallocAsync(void** ptr, std::size_t bytes, cudaStream_t on) {
  return Cuda(SimRuntime::MallocAsync(ptr, bytes, Queue(on)));
}
cudaError_t cudaMallocHost(void** ptr, std::size_t bytes) { return Cuda(SimRuntime::MallocHost(ptr, bytes)); }
cudaError_t cudaHostAlloc(void** ptr, std::size_t bytes, unsigned flags) {
  Expect(flags == cudaHostAllocDefault, __func__);
  return cudaMallocHost(ptr, bytes);
}
cudaError_t cudaMallocManaged(void** ptr, std::size_t bytes, unsigned flags) {
  Expect(flags == cudaMemAttachGlobal, __func__);
  return Cuda(SimRuntime::MallocManaged(ptr, bytes));
}
cudaError_t cudaFree(void* ptr) { return Cuda(SimRuntime::Free(ptr)); }
cudaError_t cudaFreeAsync(void* ptr, cudaStream_t on) { return Cuda(SimRuntime::FreeAsync(ptr, Queue(on))); }
cudaError_t cudaFreeHost(void* ptr) { return Cuda(SimRuntime::FreeHost(ptr)); }
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

cudaError_t cudaMemcpyAsync(void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t on) {
  Expect(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
         __func__);
  const auto direction = kind == cudaMemcpyHostToDevice   ? SimRuntime::kHostToDevice
                         : kind == cudaMemcpyDeviceToHost ? SimRuntime::kDeviceToHost
                                                          : SimRuntime::kDeviceToDevice;
  return Cuda(SimRuntime::MemcpyAsync(dst, src, bytes, direction, Queue(on)));
}
cudaError_t cudaMemsetAsync(void* dst, int value, std::size_t bytes, cudaStream_t on) {
  return Cuda(SimRuntime::MemsetAsync(dst, value, bytes, Queue(on)));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  Expect(flags == cudaStreamNonBlocking, __func__);
  return Cuda(CreateStream(stream));
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return Cuda(SimRuntime::StreamDestroy(Queue(stream))); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Cuda(SimRuntime::StreamSynchronize(Queue(stream)));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return Cuda(SimRuntime::StreamQuery(Queue(stream))); }
cudaError_t cudaStreamWaitEvent(cudaStream_t on, cudaEvent_t event, unsigned flags) {
  Expect(flags == 0, __func__);
  return Cuda(SimRuntime::StreamWaitEvent(Queue(on), Point(event)));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return Cuda(IsCapturing(stream, status, cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive));
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return Cuda(SetCapture(stream, true));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = {};
  return Cuda(SetCapture(stream, false));
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  Expect(flags == cudaEventDisableTiming, __func__);
  return Cuda(CreateEvent(event));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t on) {
  return Cuda(SimRuntime::EventRecord(Point(event), Queue(on)));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return Cuda(SimRuntime::EventDestroy(Point(event))); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return Cuda(SimRuntime::EventSynchronize(Point(event)));
}

}  // extern "C"

// The driver's, for tests/cuda/kernel.hpp: a function is which of its kernels.
namespace {

CUresult LoadModule(CUmodule* module, const void*) { return *module = {}, CUDA_SUCCESS; }
CUresult UnloadModule(CUmodule) { return CUDA_SUCCESS; }
CUresult GetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = KernelOf<CUfunction>(name);
  return CUDA_SUCCESS;
}
CUresult LaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, CUstream on, void**, void**) {
  return As<CUresult>(Launch(function, on));
}

}  // namespace

void* ferry::cuda::DriverFunction(const std::string& name) {
  static const std::map<std::string, void*> functions = {
      {"cuModuleLoadData", reinterpret_cast<void*>(LoadModule)},
      {"cuModuleUnload", reinterpret_cast<void*>(UnloadModule)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(GetFunction)},
      {"cuLaunchKernel", reinterpret_cast<void*>(LaunchKernel)},
  };
  return functions.at(name);
}
