// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda.h>

#include <cstdlib>

#include "backends/cuda/driver_function.hpp"
#include "vendor.hpp"

/// What of tests/gpu/kokkos is CUDA's.
namespace ferry::cuda {

/// The version from which on Kokkos launches on several GPUs.
inline constexpr int kKokkosOfSeveral = 40300;

template <class Space>
struct KokkosNames {
  cudaStream_t cuda_stream() const { return static_cast<const Space*>(this)->stream(); }
  int cuda_device() const { return static_cast<const Space*>(this)->device(); }
};

/// The device of a stream, for which Kokkos pushes that one's context, and leaves it.
inline int DeviceByKokkos(cudaStream_t stream, int /*initialised_for*/) {
  CUcontext context{};
  CUdevice device{};
  if (cuStreamGetCtx(stream, &context) != CUDA_SUCCESS || cuCtxPushCurrent(context) != CUDA_SUCCESS ||
      cuCtxGetDevice(&device) != CUDA_SUCCESS)
    std::abort();
  return device;
}

/// Whether the driver has a context of the calling thread's that somebody has pushed.
inline bool PopsContext() {
  CUcontext context{};
  void* const pop = DriverFunction(FERRY_DRIVER_NAME(cuCtxPopCurrent));
  return reinterpret_cast<decltype(&cuCtxPopCurrent)>(pop)(&context) == CUDA_SUCCESS;
}

}  // namespace ferry::cuda
