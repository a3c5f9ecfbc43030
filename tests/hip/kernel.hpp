// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ferry/hip.hpp"

namespace ferry::hip {

/// Kernels in HIP, which the runtime compiles for the GPU it finds: so a test needs no HIP compiler.
inline constexpr const char* kSource = R"(
extern "C" __global__ void Fail() { *static_cast<volatile int*>(nullptr) = 1; }

extern "C" __global__ void Delay(unsigned long long nanoseconds) {
  for (const auto end = clock64() + nanoseconds; clock64() < end;) {  // about as many, at 1 GHz
  }
}
)";

inline void Check(const char* call, hipError_t error) {
  if (error != hipSuccess) throw std::runtime_error(std::string(call) + ": " + hipGetErrorString(error));
}
/// The kernels' code, for the current device or as hiprtc's options say.
std::vector<char> CompileKernels(std::vector<const char*> options = {});

/// A kernel of kSource, of one thread, on the current device.
class Kernel {
 public:
  explicit Kernel(const char* name) {
    const std::vector<char> code = CompileKernels();
    Check("hipModuleLoadData", hipModuleLoadData(&module_, code.data()));
    Check(name, hipModuleGetFunction(&function_, module_, name));
  }
  ~Kernel() { (void)hipModuleUnload(module_); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  template <class... Arguments>
  void Launch(const Stream& on, Arguments... arguments) const {
    void* pointers[] = {&arguments..., nullptr};
    Check("hipModuleLaunchKernel",
          hipModuleLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, Native(on), pointers, nullptr));
  }

 private:
  hipModule_t module_{};
  hipFunction_t function_{};
};

}  // namespace ferry::hip

#else
#include "tests/cuda/kernel.hpp"

namespace ferry::hip {
using cuda::Kernel;
}
#endif
