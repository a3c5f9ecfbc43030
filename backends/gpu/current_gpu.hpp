// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "backends/gpu/runtime_calls.hpp"

namespace ferry::gpu {

/// While it lives, a GPU is the calling thread's current device. Afterwards it is the one before again,
/// unless that one has no context: CUDA would make one there, for half a GiB that nobody asked for. Does not
/// throw: call() and error() say what failed.
template <GpuRuntime Runtime>
class CurrentGpu {
 public:
  explicit CurrentGpu(int index) noexcept {
    if (error_ = Runtime::GetDevice(&previous_); error_ != Runtime::kSuccess) {
      call_ = "GetDevice";
    } else if (previous_ != index) {
      bool active = true;
      Ignore<Runtime>(Runtime::ContextIsActive(previous_, &active));
      call_ = "SetDevice";
      error_ = Runtime::SetDevice(index);
      put_back_ = active && error_ == Runtime::kSuccess;
    }
    Ignore<Runtime>(error_);
    if (error_ == Runtime::kSuccess) has_context_ = true;
  }
  ~CurrentGpu() {
    if (put_back_) Ignore<Runtime>(Runtime::SetDevice(previous_));
  }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

  const char* call() const noexcept { return call_; }
  typename Runtime::Error error() const noexcept { return error_; }

  /// Whether the calling thread's current device has a context, since one of these has lived. Else a call
  /// that works whatever device is current would make one on the first GPU.
  static bool ThreadHasContext() noexcept { return has_context_; }

 private:
  static inline thread_local bool has_context_ = false;

  const char* call_ = "";
  typename Runtime::Error error_{};
  int previous_ = 0;
  bool put_back_ = false;
};

}  // namespace ferry::gpu
