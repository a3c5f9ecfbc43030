// SPDX-License-Identifier: BSD-2-Clause
// HIP's functions for AMD's GPUs, those that Ferry and its tests call, made of the simulated GPU; see
// tests/gpu/simulated.hpp. The machine is as odd as HIP's releases have been, all at once
// (docs/decisions/0030).
#include "tests/gpu/simulated.hpp"

#include <hip/hip_runtime_api.h>

#include "tests/hip/kernel.hpp"
#include "tests/hip/names.hpp"

namespace {

using namespace ferry::simulated;

const Session session({.wavefront = 64,
                       .architecture = "gfx90a:sramecc+:xnack-",
                       .null_when_full = true,
                       .zero_bytes = true,
                       .pageable_serialises = true,
                       .coarse_host_memory = true,
                       .last_call_only = true,
                       .capture_spreads = true});

hipError_t Hip(SimRuntime::Error error) { return As<hipError_t>(error); }

}  // namespace

extern "C" {

const char* hipGetErrorName(hipError_t error) {
  return SimRuntime::GetErrorName(static_cast<SimRuntime::Error>(error));
}
const char* hipGetErrorString(hipError_t error) {
  return SimRuntime::GetErrorString(static_cast<SimRuntime::Error>(error));
}
hipError_t hipGetLastError() { return Hip(SimRuntime::GetLastError()); }

hipError_t hipGetDeviceCount(int* count) { return Hip(Count(count)); }
hipError_t hipGetDevice(int* device) { return Hip(SimRuntime::GetDevice(device)); }
hipError_t hipSetDevice(int device) { return Hip(SimRuntime::SetDevice(device)); }
hipError_t hipDeviceSynchronize() { return Hip(SimRuntime::DeviceSynchronize()); }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  ferry::DeviceProperties its;
  if (const auto error = SimRuntime::Describe(device, its); error != SimRuntime::kSuccess) return Hip(error);
  *properties = {};
  its.name.copy(properties->name, sizeof properties->name - 1);
  its.architecture.copy(properties->gcnArchName, sizeof properties->gcnArchName - 1);
  properties->totalGlobalMem = its.memory;
  properties->warpSize = its.wavefront;
  properties->concurrentManagedAccess = 1;
  properties->integrated = its.unified;
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  Expect(attribute == hipDeviceAttributeMemoryPoolsSupported, __func__);
  ferry::DeviceProperties its;
  const auto error = Hip(SimRuntime::Describe(device, its));
  return *value = its.memory_pools, error;
}
hipError_t hipDeviceGetPCIBusId(char* id, int size, int device) { return Hip(PciIdOf(id, size, device)); }
hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) { return Hip(DeviceByPciId(device, id)); }

hipError_t hipMalloc(void** ptr, std::size_t bytes) { return Hip(SimRuntime::Malloc(ptr, bytes)); }
hipError_t hipMallocAsync(void** ptr, std::size_t bytes, hipStream_t on) {
  return Hip(SimRuntime::MallocAsync(ptr, bytes, Queue(on)));
}
hipError_t hipHostMalloc(void** ptr, std::size_t bytes, unsigned flags) {
  Expect(flags == hipHostMallocDefault, __func__);
  return Hip(SimRuntime::MallocHost(ptr, bytes));
}
hipError_t hipMallocManaged(void** ptr, std::size_t bytes, unsigned flags) {
  Expect(flags == hipMemAttachGlobal, __func__);
  return Hip(SimRuntime::MallocManaged(ptr, bytes));
}
hipError_t hipFree(void* ptr) { return Hip(SimRuntime::Free(ptr)); }
hipError_t hipFreeAsync(void* ptr, hipStream_t on) { return Hip(SimRuntime::FreeAsync(ptr, Queue(on))); }
hipError_t hipHostFree(void* ptr) { return Hip(SimRuntime::FreeHost(ptr)); }
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  const auto owner = OwnerOf(ptr);
  if (!owner) return hipErrorInvalidValue;
  *attributes = {};
  attributes->device = owner->device;
  return hipSuccess;
}

hipError_t hipMemcpyAsync(void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind, hipStream_t on) {
  Expect(kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice,
         __func__);
  const auto direction = kind == hipMemcpyHostToDevice   ? SimRuntime::kHostToDevice
                         : kind == hipMemcpyDeviceToHost ? SimRuntime::kDeviceToHost
                                                         : SimRuntime::kDeviceToDevice;
  return Hip(SimRuntime::MemcpyAsync(dst, src, bytes, direction, Queue(on)));
}
hipError_t hipMemsetAsync(void* dst, int value, std::size_t bytes, hipStream_t on) {
  return Hip(SimRuntime::MemsetAsync(dst, value, bytes, Queue(on)));
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  Expect(flags == hipStreamNonBlocking, __func__);
  return Hip(CreateStream(stream));
}
hipError_t hipStreamDestroy(hipStream_t stream) { return Hip(SimRuntime::StreamDestroy(Queue(stream))); }
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return Hip(SimRuntime::StreamSynchronize(Queue(stream)));
}
hipError_t hipStreamQuery(hipStream_t stream) { return Hip(SimRuntime::StreamQuery(Queue(stream))); }
hipError_t hipStreamWaitEvent(hipStream_t on, hipEvent_t event, unsigned flags) {
  Expect(flags == 0, __func__);
  return Hip(SimRuntime::StreamWaitEvent(Queue(on), Point(event)));
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return Hip(IsCapturing(stream, status, hipStreamCaptureStatusNone, hipStreamCaptureStatusActive));
}
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
  return Hip(SetCapture(stream, true));
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  *graph = {};
  return Hip(SetCapture(stream, false));
}
hipError_t hipGraphDestroy(hipGraph_t) { return hipSuccess; }

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  Expect(flags == (hipEventDisableTiming | hipEventReleaseToSystem), __func__);
  return Hip(CreateEvent(event));
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t on) {
  return Hip(SimRuntime::EventRecord(Point(event), Queue(on)));
}
hipError_t hipEventDestroy(hipEvent_t event) { return Hip(SimRuntime::EventDestroy(Point(event))); }
hipError_t hipEventSynchronize(hipEvent_t event) { return Hip(SimRuntime::EventSynchronize(Point(event))); }

// For tests/hip/kernel.hpp: a function is which of its kernels.
hipError_t hipModuleLoadData(hipModule_t* module, const void*) { return *module = {}, hipSuccess; }
hipError_t hipModuleUnload(hipModule_t) { return hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t, const char* name) {
  *function = KernelOf<hipFunction_t>(name);
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, hipStream_t on, void**, void**) {
  return Hip(Launch(function, on));
}

}  // extern "C"

bool ferry::hip::SurvivesFailedKernels() { return true; }
std::vector<char> ferry::hip::CompileKernels(std::vector<const char*>) { return {0}; }
