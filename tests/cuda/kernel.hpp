// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

#include "backends/cuda/driver_function.hpp"
#include "ferry/stream.hpp"

namespace ferry::cuda {

/// Kernels in PTX, which the driver compiles: so a test needs no CUDA compiler and fits every GPU.
inline constexpr const char* kPtx = R"(
.version 7.0
.target sm_52
.address_size 64

.visible .entry Fail() { trap; }

.visible .entry Delay(.param .u64 nanoseconds) {
  .reg .u64 now, end;
  .reg .pred early;
  ld.param.u64 end, [nanoseconds];
  mov.u64 now, %globaltimer;
  add.u64 end, end, now;
again:
  mov.u64 now, %globaltimer;
  setp.lt.u64 early, now, end;
  @early bra again;
  ret;
}
)";

/// A kernel of kPtx, of one thread, on the current device.
class Kernel {
 public:
  explicit Kernel(const char* name) {
    Check("cuModuleLoadData", Driver<decltype(&cuModuleLoadData)>("cuModuleLoadData")(&module_, kPtx));
    Check(name, Driver<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&function_, module_, name));
  }
  ~Kernel() { Driver<decltype(&cuModuleUnload)>("cuModuleUnload")(module_); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  template <class... Arguments>
  void Launch(const Stream& on, Arguments... arguments) const {
    void* pointers[] = {&arguments..., nullptr};
    static const auto launch = Driver<decltype(&cuLaunchKernel)>("cuLaunchKernel");
    Check("cuLaunchKernel",
          launch(function_, 1, 1, 1, 1, 1, 1, 0, reinterpret_cast<CUstream>(on.handle()), pointers, nullptr));
  }

 private:
  template <class Function>
  static Function Driver(const char* name) {
    void* const function = DriverFunction(name);
    if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function>(function);
  }
  static void Check(const char* call, CUresult error) {
    if (error != CUDA_SUCCESS)
      throw std::runtime_error(std::string(call) + ": error " + std::to_string(error));
  }

  CUmodule module_{};
  CUfunction function_{};
};

}  // namespace ferry::cuda
