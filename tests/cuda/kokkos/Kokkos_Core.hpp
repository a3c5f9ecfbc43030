// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#ifndef KOKKOS_VERSION
#define KOKKOS_VERSION 40300
#endif

/// In the place of a Kokkos with kernels for CUDA: what Ferry needs of its spaces, with the calls of CUDA by
/// which Kokkos' own source makes and destroys an instance. It shows that Ferry allows for what Kokkos does,
/// as that source has it; kernels themselves are not here.
namespace Kokkos {

class Serial {};
class Cuda;
using DefaultHostExecutionSpace = Serial;
using DefaultExecutionSpace = Cuda;
#define KOKKOS_ENABLE_SERIAL

namespace stand_in {

inline bool initialized = false, finalized = false;
inline int device = 0;  ///< that it was initialised for
inline std::vector<std::function<void()>> hooks;
inline std::atomic<int> instances = 0;

/// What the program does at once that Kokkos does not lock.
class Alone {
 public:
  Alone() { broken = broken || inside.fetch_add(1) != 0; }
  ~Alone() { --inside; }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  static inline std::atomic<int> inside = 0;
  static inline std::atomic<bool> broken = false;
};

/// Kokkos ends the program with an error.
inline void Require(bool success) {
  if (!success) std::abort();
}

}  // namespace stand_in

class InitializationSettings {
 public:
  InitializationSettings& set_device_id(int device) { return device_ = device, *this; }
  int device() const { return device_; }

 private:
  int device_ = 0;
};

inline void initialize(const InitializationSettings& settings) {
  stand_in::device = settings.device();
  stand_in::Require(cudaSetDevice(stand_in::device) == cudaSuccess);
  stand_in::initialized = true;
}
inline bool is_initialized() { return stand_in::initialized; }
inline bool is_finalized() { return stand_in::finalized; }
inline void push_finalize_hook(std::function<void()> hook) { stand_in::hooks.push_back(std::move(hook)); }
inline void finalize() {
  for (; !stand_in::hooks.empty(); stand_in::hooks.pop_back()) stand_in::hooks.back()();
  stand_in::Require(cudaSetDevice(stand_in::device) == cudaSuccess);
  stand_in::Require(cudaDeviceSynchronize() == cudaSuccess);
  stand_in::initialized = false;
  stand_in::finalized = true;
}

/// An instance on a stream has the device that the driver says. It pushes that one's context, and leaves it;
/// and the flags by which its reductions count are zeroed by way of the legacy stream.
class Cuda {
 public:
  static constexpr std::size_t kFlags = 128;  ///< in bytes

  Cuda() : its_(std::make_shared<Its>()) { its_->device = stand_in::device; }
  explicit Cuda(cudaStream_t stream) : its_(new Its, Destroy) {
    const stand_in::Alone alone;
    its_->stream = stream;
    CUcontext context{};
    stand_in::Require(cuStreamGetCtx(stream, &context) == CUDA_SUCCESS);
    stand_in::Require(cuCtxPushCurrent(context) == CUDA_SUCCESS);
    stand_in::Require(cuCtxGetDevice(&its_->device) == CUDA_SUCCESS);
    stand_in::Require(cudaSetDevice(its_->device) == cudaSuccess);
    stand_in::Require(cudaMalloc(&its_->flags, kFlags) == cudaSuccess);
    stand_in::Require(cudaMemsetAsync(its_->flags, 0, kFlags, nullptr) == cudaSuccess);
    ++stand_in::instances;
  }

  cudaStream_t cuda_stream() const { return its_->stream; }
  int cuda_device() const { return its_->device; }
  const void* flags() const { return its_->flags; }

 private:
  struct Its {
    cudaStream_t stream = nullptr;
    int device = 0;
    void* flags = nullptr;
  };

  static void Destroy(Its* its) {
    const stand_in::Alone alone;
    stand_in::Require(!stand_in::finalized);
    stand_in::Require(cudaSetDevice(its->device) == cudaSuccess);
    stand_in::Require(cudaStreamSynchronize(its->stream) == cudaSuccess);
    stand_in::Require(cudaFree(its->flags) == cudaSuccess);
    --stand_in::instances;
    delete its;
  }

  std::shared_ptr<Its> its_;
};

}  // namespace Kokkos
