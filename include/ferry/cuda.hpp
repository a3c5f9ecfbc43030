// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stdexcept>

#include "ferry/stream.hpp"

/// CUDA's own streams and Ferry's. Opt-in: it includes CUDA's header, which the program has to find.
namespace ferry::cuda {

// What depends on the macro has a name of its own with it: a program may have files of both kinds.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
inline namespace default_stream_per_thread {
#else
inline namespace default_stream_legacy {
#endif

/// As Stream::Borrow: before `stream` is destroyed, each memory that was accessed on it must end or be told
/// so (SyncedMemory::Forget). If Ferry's kernels ran on it, it must also outlive its device and Kokkos, which
/// keep what they have made for it. It belongs to `device`; 0 is the default stream as this file is compiled,
/// legacy or per thread. The one per thread is one handle for a queue in each thread; other threads wait for
/// its work by way of the legacy one. Throws std::invalid_argument for a device that is not CUDA's.
inline Stream Borrow(Device& device, cudaStream_t stream) {
  if (device.properties().backend != "cuda")
    throw std::invalid_argument("ferry::cuda::Borrow: the device is of backend " +
                                device.properties().backend + "; give one of cuda");
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  if (stream == nullptr) stream = cudaStreamPerThread;
#else
  if (stream == nullptr) stream = cudaStreamLegacy;
#endif
  return Stream::Borrow(device, StreamHandle{reinterpret_cast<std::uintptr_t>(stream)});
}

}  // inline namespace

/// To launch kernels on: <<<grid, block, 0, cuda::Native(stream)>>>. The stream's device is CUDA's.
inline cudaStream_t Native(const Stream& stream) noexcept {
  return reinterpret_cast<cudaStream_t>(stream.handle());
}

}  // namespace ferry::cuda
