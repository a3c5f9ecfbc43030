// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/driver_function.hpp"
#include "backends/gpu/unified.hpp"
#include "ferry/device.hpp"

namespace ferry::cuda {

/// CUDA's names, 12.x and 13.x; what they must be is said in backends/gpu/gpu_runtime.hpp.
struct CudaRuntime {
  static constexpr const char* kName = "cuda";

  using Error = cudaError_t;
  static constexpr Error kSuccess = cudaSuccess;
  static constexpr Error kOutOfMemory = cudaErrorMemoryAllocation;
  static constexpr Error kInvalidValue = cudaErrorInvalidValue;
  static constexpr Error kNotReady = cudaErrorNotReady;
  static constexpr Error kStreamCaptureUnsupported = cudaErrorStreamCaptureUnsupported;
  static constexpr Error kStreamCaptureImplicit = cudaErrorStreamCaptureImplicit;
  static const char* GetErrorName(Error error) noexcept { return cudaGetErrorName(error); }
  static const char* GetErrorString(Error error) noexcept { return cudaGetErrorString(error); }
  static Error GetLastError() noexcept { return cudaGetLastError(); }

  static Error GetDevice(int* index) noexcept { return cudaGetDevice(index); }
  static Error SetDevice(int index) noexcept { return cudaSetDevice(index); }
  static Error DeviceSynchronize() noexcept { return cudaDeviceSynchronize(); }
  static Error ContextIsActive(int index, bool* active) noexcept;
  static Error Describe(int index, DeviceProperties& properties);

  using Stream = cudaStream_t;
  using CaptureStatus = cudaStreamCaptureStatus;
  static constexpr CaptureStatus kNotCapturing = cudaStreamCaptureStatusNone;
  static Error StreamCreate(Stream* stream) noexcept {
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  }
  static Error StreamDestroy(Stream stream) noexcept { return cudaStreamDestroy(stream); }
  static Error StreamSynchronize(Stream stream) noexcept { return cudaStreamSynchronize(stream); }
  static Error StreamQuery(Stream stream) noexcept { return cudaStreamQuery(stream); }
  static Error StreamIsCapturing(Stream stream, CaptureStatus* status) noexcept {
    return cudaStreamIsCapturing(stream, status);
  }
  static constexpr bool EventsNeedStream() noexcept { return false; }
  using CaptureMode = cudaStreamCaptureMode;
  static constexpr CaptureMode kCaptureRelaxed = cudaStreamCaptureModeRelaxed;
  static Error ThreadExchangeStreamCaptureMode(CaptureMode* mode) noexcept {
    return cudaThreadExchangeStreamCaptureMode(mode);
  }

  using Event = cudaEvent_t;
  static Error EventCreate(Event* event) noexcept {
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming);
  }
  static Error EventCreateMeasuring(Event* event) noexcept {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
  }
  static Error EventElapsedTime(float* milliseconds, Event from, Event to) noexcept {
    return cudaEventElapsedTime(milliseconds, from, to);
  }
  static Error EventRecord(Event event, Stream on) noexcept { return cudaEventRecord(event, on); }
  static Error EventDestroy(Event event) noexcept { return cudaEventDestroy(event); }
  static Error EventSynchronize(Event event) noexcept { return cudaEventSynchronize(event); }
  static Error EventQuery(Event event) noexcept { return cudaEventQuery(event); }
  static Error StreamWaitEvent(Stream on, Event event) noexcept { return cudaStreamWaitEvent(on, event, 0); }

  static Error Malloc(void** ptr, std::size_t bytes) noexcept { return cudaMalloc(ptr, bytes); }
  static Error MallocAsync(void** ptr, std::size_t bytes, Stream on) noexcept {
    return cudaMallocAsync(ptr, bytes, on);
  }
  static Error FreeAsync(void* ptr, Stream on) noexcept { return cudaFreeAsync(ptr, on); }
  static Error KeepFreedMemory(int index) noexcept;
  static Error GiveUpFreedMemory(int index) noexcept;
  static Error MallocHost(void** ptr, std::size_t bytes) noexcept { return cudaMallocHost(ptr, bytes); }
  static Error FreeHost(void* ptr) noexcept { return cudaFreeHost(ptr); }
  static Error MallocManaged(void** ptr, std::size_t bytes) noexcept {
    return cudaMallocManaged(ptr, bytes, cudaMemAttachGlobal);
  }
  static Error Free(void* ptr) noexcept { return cudaFree(ptr); }
  static Error DeviceEnablePeerAccess(int peer) noexcept { return cudaDeviceEnablePeerAccess(peer, 0); }
  static Error OpenPool(int index, int reader) noexcept;
  static Error PointerGetDevice(int* index, const void* ptr) noexcept;

  using Direction = cudaMemcpyKind;
  static constexpr Direction kHostToDevice = cudaMemcpyHostToDevice;
  static constexpr Direction kDeviceToHost = cudaMemcpyDeviceToHost;
  static constexpr Direction kDeviceToDevice = cudaMemcpyDeviceToDevice;
  static Error MemcpyAsync(void* dst, const void* src, std::size_t bytes, Direction direction,
                           Stream on) noexcept {
    return cudaMemcpyAsync(dst, src, bytes, direction, on);
  }
  static Error MemsetAsync(void* dst, int value, std::size_t bytes, Stream on) noexcept {
    return cudaMemsetAsync(dst, value, bytes, on);
  }
};

// The rest says what the names alone do not.

/// A context that was active is taken to be so for good: cudaDeviceReset alone ends one.
inline CudaRuntime::Error CudaRuntime::ContextIsActive(int index, bool* active) noexcept {
  constexpr int kRemembered = 64;
  static std::atomic<bool> known[kRemembered];
  const bool remembers = index >= 0 && index < kRemembered;
  if (remembers && known[index].load(std::memory_order_relaxed)) return *active = true, cudaSuccess;
  static const auto state =
      reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(DriverFunction("cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int its = 1;
  if (state == nullptr || state(index, &flags, &its) != CUDA_SUCCESS) return cudaErrorInitializationError;
  *active = its != 0;
  if (remembers && *active) known[index].store(true, std::memory_order_relaxed);
  return cudaSuccess;
}

/// Unlimited: else each synchronisation would give all that is free back to the system. Of the pool that
/// allocations use, which the program may have replaced.
inline CudaRuntime::Error CudaRuntime::KeepFreedMemory(int index) noexcept {
  cudaMemPool_t pool{};
  if (const auto error = cudaDeviceGetMemPool(&pool, index); error != cudaSuccess) return error;
  std::uint64_t threshold = UINT64_MAX;
  return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
}
inline CudaRuntime::Error CudaRuntime::GiveUpFreedMemory(int index) noexcept {
  cudaMemPool_t pool{};
  if (const auto error = cudaDeviceGetMemPool(&pool, index); error != cudaSuccess) return error;
  return cudaMemPoolTrimTo(pool, 0);
}

/// Of the pool that the device allocates from by now. A pool takes no access that is only for reading.
inline CudaRuntime::Error CudaRuntime::OpenPool(int index, int reader) noexcept {
  cudaMemPool_t pool{};
  if (const auto error = cudaDeviceGetMemPool(&pool, index); error != cudaSuccess) return error;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = reader;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  return cudaMemPoolSetAccess(pool, &access, 1);
}
inline CudaRuntime::Error CudaRuntime::PointerGetDevice(int* index, const void* ptr) noexcept {
  cudaPointerAttributes attributes{};
  const auto error = cudaPointerGetAttributes(&attributes, ptr);
  if (error == cudaSuccess) *index = attributes.type == cudaMemoryTypeUnregistered ? -1 : attributes.device;
  return error;
}

inline CudaRuntime::Error CudaRuntime::Describe(int index, DeviceProperties& properties) {
  cudaDeviceProp device{};
  if (const auto error = cudaGetDeviceProperties(&device, index); error != cudaSuccess) return error;
  char pci_id[32] = "";  // a domain may have more than four digits
  if (const auto error = cudaDeviceGetPCIBusId(pci_id, sizeof pci_id, index); error != cudaSuccess)
    return error;
  properties.name = device.name;
  properties.architecture = "sm_" + std::to_string(device.major) + std::to_string(device.minor);
  properties.pci_id = pci_id;
  properties.memory = device.totalGlobalMem;
  properties.wavefront = device.warpSize;
  properties.memory_pools = device.memoryPoolsSupported != 0;
  // Grace Hopper walks the host's page tables; elsewhere managed memory migrates page by page.
  properties.unified =
      gpu::Unified(device.pageableMemoryAccessUsesHostPageTables != 0, device.concurrentManagedAccess != 0);
  properties.main_stream = StreamHandle{reinterpret_cast<std::uintptr_t>(cudaStreamLegacy)};
  properties.thread_stream = StreamHandle{reinterpret_cast<std::uintptr_t>(cudaStreamPerThread)};
  int count = 0;
  if (const auto error = cudaGetDeviceCount(&count); error != cudaSuccess) return error;
  for (int peer = 0; peer < count; ++peer) {
    int can = 0;  // no device is a peer of itself
    if (const auto error = cudaDeviceCanAccessPeer(&can, index, peer); error != cudaSuccess) return error;
    if (can != 0) properties.peers.push_back(peer);
  }
  return cudaSuccess;
}

}  // namespace ferry::cuda
