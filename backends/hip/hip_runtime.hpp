// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <string>

#include "backends/gpu/unified.hpp"
#include "ferry/device.hpp"

namespace ferry::hip {

/// HIP's names, 5.2 to 7.x; what they must be is said in backends/gpu/gpu_runtime.hpp.
struct HipRuntime {
  static constexpr const char* kName = "hip";

  using Error = hipError_t;
  static constexpr Error kSuccess = hipSuccess;
  static constexpr Error kOutOfMemory = hipErrorOutOfMemory;
  static constexpr Error kInvalidValue = hipErrorInvalidValue;
  static constexpr Error kNotReady = hipErrorNotReady;
  static constexpr Error kStreamCaptureUnsupported = hipErrorStreamCaptureUnsupported;
  static constexpr Error kStreamCaptureImplicit = hipErrorStreamCaptureImplicit;
  static const char* GetErrorName(Error error) noexcept { return hipGetErrorName(error); }
  static const char* GetErrorString(Error error) noexcept { return hipGetErrorString(error); }
  static Error GetLastError() noexcept { return hipGetLastError(); }

  static Error GetDevice(int* index) noexcept { return hipGetDevice(index); }
  static Error SetDevice(int index) noexcept { return hipSetDevice(index); }
  static Error DeviceSynchronize() noexcept { return hipDeviceSynchronize(); }
  static Error ContextIsActive(int index, bool* active) noexcept;
  static Error Describe(int index, DeviceProperties& properties);

  using Stream = hipStream_t;
  using CaptureStatus = hipStreamCaptureStatus;
  static constexpr CaptureStatus kNotCapturing = hipStreamCaptureStatusNone;
  static Error StreamCreate(Stream* stream) noexcept {
    return hipStreamCreateWithFlags(stream, hipStreamNonBlocking);
  }
  static Error StreamDestroy(Stream stream) noexcept { return hipStreamDestroy(stream); }
  static Error StreamSynchronize(Stream stream) noexcept { return hipStreamSynchronize(stream); }
  static Error StreamQuery(Stream stream) noexcept { return hipStreamQuery(stream); }
  static Error StreamIsCapturing(Stream stream, CaptureStatus* status) noexcept {
    return hipStreamIsCapturing(stream, status);
  }
  /// ROCm from 6.0 on uses the stream of an event that hipEventSynchronize waits for.
  static constexpr bool EventsNeedStream() noexcept { return true; }
  using CaptureMode = hipStreamCaptureMode;
  static constexpr CaptureMode kCaptureRelaxed = hipStreamCaptureModeRelaxed;
  static Error ThreadExchangeStreamCaptureMode(CaptureMode* mode) noexcept {
    return hipThreadExchangeStreamCaptureMode(mode);
  }

  using Event = hipEvent_t;
  /// Without hipEventReleaseToSystem an event may leave what was written to host memory in the GPU's caches.
  static Error EventCreate(Event* event) noexcept {
    return hipEventCreateWithFlags(event, hipEventDisableTiming | hipEventReleaseToSystem);
  }
  static Error EventCreateMeasuring(Event* event) noexcept {
    return hipEventCreateWithFlags(event, hipEventReleaseToSystem);
  }
  static Error EventElapsedTime(float* milliseconds, Event from, Event to) noexcept {
    return hipEventElapsedTime(milliseconds, from, to);
  }
  static Error EventRecord(Event event, Stream on) noexcept { return hipEventRecord(event, on); }
  static Error EventDestroy(Event event) noexcept { return hipEventDestroy(event); }
  static Error EventSynchronize(Event event) noexcept { return hipEventSynchronize(event); }
  static Error EventQuery(Event event) noexcept { return hipEventQuery(event); }
  static Error StreamWaitEvent(Stream on, Event event) noexcept { return hipStreamWaitEvent(on, event, 0); }

  static Error Malloc(void** ptr, std::size_t bytes) noexcept { return hipMalloc(ptr, bytes); }
  static Error MallocAsync(void** ptr, std::size_t bytes, Stream on) noexcept {
    return hipMallocAsync(ptr, bytes, on);
  }
  static Error FreeAsync(void* ptr, Stream on) noexcept { return hipFreeAsync(ptr, on); }
  static Error KeepFreedMemory(int index) noexcept;
  static Error GiveUpFreedMemory(int index) noexcept;
  // 6.3 alone deprecates them, for names that others do not have.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  static Error MallocHost(void** ptr, std::size_t bytes) noexcept {
    return hipHostMalloc(ptr, bytes, hipHostMallocDefault);
  }
  static Error FreeHost(void* ptr) noexcept { return hipHostFree(ptr); }
#pragma GCC diagnostic pop
  static Error MallocManaged(void** ptr, std::size_t bytes) noexcept {
    return hipMallocManaged(ptr, bytes, hipMemAttachGlobal);
  }
  static Error Free(void* ptr) noexcept { return hipFree(ptr); }
  static Error DeviceEnablePeerAccess(int peer) noexcept { return hipDeviceEnablePeerAccess(peer, 0); }
  static Error OpenPool(int index, int reader) noexcept;
  static Error PointerGetDevice(int* index, const void* ptr) noexcept;

  using Direction = hipMemcpyKind;
  static constexpr Direction kHostToDevice = hipMemcpyHostToDevice;
  static constexpr Direction kDeviceToHost = hipMemcpyDeviceToHost;
  static constexpr Direction kDeviceToDevice = hipMemcpyDeviceToDevice;
  static Error MemcpyAsync(void* dst, const void* src, std::size_t bytes, Direction direction,
                           Stream on) noexcept {
    return hipMemcpyAsync(dst, src, bytes, direction, on);
  }
  static Error MemsetAsync(void* dst, int value, std::size_t bytes, Stream on) noexcept {
    return hipMemsetAsync(dst, value, bytes, on);
  }
};

// The rest says what the names alone do not.

/// ROCm has made what a device needs when the program starts.
inline HipRuntime::Error HipRuntime::ContextIsActive(int, bool* active) noexcept {
  return *active = true, hipSuccess;
}

/// The threshold stays as the vendor has it: nobody has measured on AMD what another one would change.
inline HipRuntime::Error HipRuntime::KeepFreedMemory(int) noexcept { return hipSuccess; }
inline HipRuntime::Error HipRuntime::GiveUpFreedMemory(int index) noexcept {
  hipMemPool_t pool{};
  if (const auto error = hipDeviceGetMemPool(&pool, index); error != hipSuccess) return error;
  return hipMemPoolTrimTo(pool, 0);
}

/// Of the pool that the device allocates from by now. A pool takes no access that is only for reading.
inline HipRuntime::Error HipRuntime::OpenPool(int index, int reader) noexcept {
  hipMemPool_t pool{};
  if (const auto error = hipDeviceGetMemPool(&pool, index); error != hipSuccess) return error;
  hipMemAccessDesc access{};
  access.location.type = hipMemLocationTypeDevice;
  access.location.id = reader;
  access.flags = hipMemAccessFlagsProtReadWrite;
  return hipMemPoolSetAccess(pool, &access, 1);
}
/// Memory that the driver does not know is hipErrorInvalidValue up to HIP 5, and a type of memory from HIP 6
/// on. HIP's header for NVIDIA says of managed memory, too, that it is not known.
inline HipRuntime::Error HipRuntime::PointerGetDevice(int* index, const void* ptr) noexcept {
#ifdef __HIP_PLATFORM_NVIDIA__
  cudaPointerAttributes attributes{};
  const auto error = hipCUDAErrorTohipError(cudaPointerGetAttributes(&attributes, ptr));
  if (error == hipSuccess) *index = attributes.type == cudaMemoryTypeUnregistered ? -1 : attributes.device;
  return error;
#else
  hipPointerAttribute_t attributes{};
  const auto error = hipPointerGetAttributes(&attributes, ptr);
  bool known = error == hipSuccess;
#if HIP_VERSION_MAJOR >= 6
  known = known && attributes.type != hipMemoryTypeUnregistered;
#endif
  if (known) *index = attributes.device;
  if (known || (error != hipSuccess && error != hipErrorInvalidValue)) return error;
  if (error != hipSuccess) (void)hipGetLastError();
  *index = -1;
  return hipSuccess;
#endif
}

inline HipRuntime::Error HipRuntime::Describe(int index, DeviceProperties& properties) {
  hipDeviceProp_t device{};
  if (const auto error = hipGetDeviceProperties(&device, index); error != hipSuccess) return error;
  char pci_id[32] = "";  // a domain may have more than four digits
  if (const auto error = hipDeviceGetPCIBusId(pci_id, sizeof pci_id, index); error != hipSuccess)
    return error;
  int memory_pools = 0;
  if (const auto error = hipDeviceGetAttribute(&memory_pools, hipDeviceAttributeMemoryPoolsSupported, index);
      error != hipSuccess)
    return error;
  properties.name = device.name;
  properties.architecture = device.gcnArchName;
  properties.pci_id = pci_id;
  properties.memory = device.totalGlobalMem;
  properties.wavefront = device.warpSize;
  properties.memory_pools = memory_pools != 0;
  // An APU, by the one property or, before HIP 6, the other; elsewhere managed memory migrates at best.
  properties.unified =
      gpu::Unified(device.integrated != 0 || device.pageableMemoryAccessUsesHostPageTables != 0,
                   device.concurrentManagedAccess != 0);
  properties.main_stream = StreamHandle{};  // hipStreamLegacy is not known before HIP 6.2
  properties.thread_stream = StreamHandle{reinterpret_cast<std::uintptr_t>(hipStreamPerThread)};
  int count = 0;
  if (const auto error = hipGetDeviceCount(&count); error != hipSuccess) return error;
  for (int peer = 0; peer < count; ++peer) {
    int can = 0;  // no device is a peer of itself
    if (const auto error = hipDeviceCanAccessPeer(&can, index, peer); error != hipSuccess) return error;
    if (can != 0) properties.peers.push_back(peer);
  }
  return hipSuccess;
}

}  // namespace ferry::hip
