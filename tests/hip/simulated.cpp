// SPDX-License-Identifier: BSD-2-Clause
// HIP's functions for AMD's GPUs, those that Ferry and its tests call, made of the simulated GPU; see
// tests/gpu/simulated.hpp. The machine is as odd as HIP's releases have been, all at once
// (docs/decisions/0030).
#include "tests/gpu/simulated.hpp"
#include "tests/hip/names.hpp"

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstring>

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

hipError_t hipGetDeviceCount(int* count) {
  return *count = ferry::sim::Machine::The().device_count(), hipSuccess;
}
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
  if (attribute != hipDeviceAttributeMemoryPoolsSupported) Unexpected(__func__);
  ferry::DeviceProperties its;
  const auto error = Hip(SimRuntime::Describe(device, its));
  return *value = its.memory_pools, error;
}
hipError_t hipDeviceGetPCIBusId(char* id, int size, int device) {
  std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device));
  return hipSuccess;
}
hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  unsigned bus = 0;
  if (std::sscanf(id, "0000:%x:00.0", &bus) != 1) return hipErrorInvalidValue;
  return *device = static_cast<int>(bus), hipSuccess;
}

hipError_t hipMalloc(void** ptr, std::size_t bytes) { return Hip(SimRuntime::Malloc(ptr, bytes)); }
hipError_t hipMallocAsync(void** ptr, std::size_t bytes, hipStream_t on) {
  return Hip(SimRuntime::MallocAsync(ptr, bytes, Queue(on)));
}
hipError_t hipHostMalloc(void** ptr, std::size_t bytes, unsigned flags) {
  if (flags != hipHostMallocDefault) Unexpected(__func__);
  return Hip(SimRuntime::MallocHost(ptr, bytes));
}
hipError_t hipMallocManaged(void** ptr, std::size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal) Unexpected(__func__);
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
  const auto copy = [&](SimRuntime::Direction direction) {
    return Hip(SimRuntime::MemcpyAsync(dst, src, bytes, direction, Queue(on)));
  };
  switch (kind) {
    case hipMemcpyHostToDevice:
      return copy(SimRuntime::kHostToDevice);
    case hipMemcpyDeviceToHost:
      return copy(SimRuntime::kDeviceToHost);
    case hipMemcpyDeviceToDevice:
      return copy(SimRuntime::kDeviceToDevice);
    default:
      Unexpected(__func__);
  }
}
hipError_t hipMemsetAsync(void* dst, int value, std::size_t bytes, hipStream_t on) {
  return Hip(SimRuntime::MemsetAsync(dst, value, bytes, Queue(on)));
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  if (flags != hipStreamNonBlocking) Unexpected(__func__);
  SimRuntime::Stream its{};
  const auto error = Hip(SimRuntime::StreamCreate(&its));
  *stream = reinterpret_cast<hipStream_t>(its);
  return error;
}
hipError_t hipStreamDestroy(hipStream_t stream) { return Hip(SimRuntime::StreamDestroy(Queue(stream))); }
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return Hip(SimRuntime::StreamSynchronize(Queue(stream)));
}
hipError_t hipStreamQuery(hipStream_t stream) { return Hip(SimRuntime::StreamQuery(Queue(stream))); }
hipError_t hipStreamWaitEvent(hipStream_t on, hipEvent_t event, unsigned flags) {
  if (flags != 0) Unexpected(__func__);
  return Hip(SimRuntime::StreamWaitEvent(Queue(on), Point(event)));
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  auto its = SimRuntime::kNotCapturing;
  const auto error = Hip(SimRuntime::StreamIsCapturing(Queue(stream), &its));
  *status = its == SimRuntime::kNotCapturing ? hipStreamCaptureStatusNone : hipStreamCaptureStatusActive;
  return error;
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
  if (flags != (hipEventDisableTiming | hipEventReleaseToSystem)) Unexpected(__func__);
  SimRuntime::Event its{};
  const auto error = Hip(SimRuntime::EventCreate(&its));
  *event = reinterpret_cast<hipEvent_t>(its);
  return error;
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t on) {
  return Hip(SimRuntime::EventRecord(Point(event), Queue(on)));
}
hipError_t hipEventDestroy(hipEvent_t event) { return Hip(SimRuntime::EventDestroy(Point(event))); }
hipError_t hipEventSynchronize(hipEvent_t event) { return Hip(SimRuntime::EventSynchronize(Point(event))); }

// For tests/hip/kernel.hpp: a function is the name of a kernel.
hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char*, const char*, int, const char**,
                                 const char**) {
  return *program = {}, HIPRTC_SUCCESS;
}
hiprtcResult hiprtcCompileProgram(hiprtcProgram, int, const char**) { return HIPRTC_SUCCESS; }
hiprtcResult hiprtcGetCodeSize(hiprtcProgram, std::size_t* bytes) { return *bytes = 1, HIPRTC_SUCCESS; }
hiprtcResult hiprtcGetCode(hiprtcProgram, char* code) { return *code = 0, HIPRTC_SUCCESS; }
hiprtcResult hiprtcDestroyProgram(hiprtcProgram*) { return HIPRTC_SUCCESS; }
const char* hiprtcGetErrorString(hiprtcResult) { return "no error"; }

hipError_t hipModuleLoadData(hipModule_t* module, const void*) { return *module = {}, hipSuccess; }
hipError_t hipModuleUnload(hipModule_t) { return hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t, const char* name) {
  static bool fail = true, delay = false;
  *function = reinterpret_cast<hipFunction_t>(std::strcmp(name, "Fail") == 0 ? &fail : &delay);
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, hipStream_t on, void**, void**) {
  return Hip(Launch(*reinterpret_cast<const bool*>(function), on));
}

}  // extern "C"

bool ferry::hip::SurvivesFailedKernels() { return true; }
