// SPDX-License-Identifier: BSD-2-Clause
#include <hip/hiprtc.h>

#include "tests/gpu/are_simulated.hpp"
#include "tests/hip/kernel.hpp"
#include "tests/hip/names.hpp"

namespace ferry::hip {
namespace {

void Check(const char* call, hiprtcResult error) {
  if (error != HIPRTC_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + hiprtcGetErrorString(error));
}

}  // namespace

bool SurvivesFailedKernels() { return HIP_VERSION_MAJOR >= 7; }

std::vector<char> CompileKernels(std::vector<const char*> options) {
  hiprtcProgram program{};
  Check("hiprtcCreateProgram", hiprtcCreateProgram(&program, kSource, "kernel", 0, nullptr, nullptr));
  Check("hiprtcCompileProgram",
        hiprtcCompileProgram(program, static_cast<int>(options.size()), options.data()));
  std::size_t bytes = 0;
  Check("hiprtcGetCodeSize", hiprtcGetCodeSize(program, &bytes));
  std::vector<char> code(bytes);
  Check("hiprtcGetCode", hiprtcGetCode(program, code.data()));
  Check("hiprtcDestroyProgram", hiprtcDestroyProgram(&program));
  return code;
}

}  // namespace ferry::hip

bool ferry::testing::AreSimulated() { return false; }
