// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <stdexcept>

#include "ferry/stream.hpp"

/// HIP's own streams and Ferry's. Opt-in: it includes HIP's header, which the program has to find.
namespace ferry::hip {

// What depends on the macro has a name of its own with it: a program may have files of both kinds.
#ifdef HIP_API_PER_THREAD_DEFAULT_STREAM
inline namespace default_stream_per_thread {
#else
inline namespace default_stream_legacy {
#endif

/// As Stream::Borrow: before `stream` is destroyed, each memory that was accessed on it must end or be told
/// so (SyncedMemory::Forget). If Ferry's kernels ran on it, it must also outlive its device and Kokkos, which
/// keep what they have made for it. It belongs to `device`; 0 is the default stream as this file is compiled,
/// legacy or per thread. The one per thread is one handle for a queue in each thread; other threads wait for
/// its work by way of the legacy one. Throws std::invalid_argument for a device that is not HIP's.
inline Stream Borrow(Device& device, hipStream_t stream) {
  if (device.properties().backend != "hip")
    throw std::invalid_argument("ferry::hip::Borrow: the device is of backend " +
                                device.properties().backend + "; give one of hip");
#ifdef HIP_API_PER_THREAD_DEFAULT_STREAM
  if (stream == nullptr) stream = hipStreamPerThread;
#endif
#ifdef hipStreamLegacy
  if (stream == hipStreamLegacy) stream = nullptr;
#endif
  return Stream::Borrow(device, StreamHandle{reinterpret_cast<std::uintptr_t>(stream)});
}

/// To launch kernels on: <<<grid, block, 0, hip::Native(stream)>>>. The stream's device is HIP's. Before 6.2
/// HIP has no name for the main stream in a file that is compiled for default streams per thread.
inline hipStream_t Native(const Stream& stream) noexcept {
  const auto native = reinterpret_cast<hipStream_t>(stream.handle());
#if defined(HIP_API_PER_THREAD_DEFAULT_STREAM) && defined(hipStreamLegacy)
  if (native == nullptr) return hipStreamLegacy;  // 0 would be the thread's here
#endif
  return native;
}

}  // inline namespace

}  // namespace ferry::hip
