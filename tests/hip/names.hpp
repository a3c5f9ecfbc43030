// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tuple>

#include "backends/hip/hip_runtime.hpp"
#include "ferry/backend.hpp"
#include "vendor.hpp"

/// HIP's names for what tests/gpu needs beside the Runtime.
namespace ferry::hip {

extern const Backend kBackend;
using Runtime = HipRuntime;
/// What the library of convolutions takes.
using Convolved = std::tuple<float>;
#ifdef __HIP_PLATFORM_AMD__
inline constexpr const char* kArchitecture = "gfx";
inline constexpr bool kSaysUnified = true;
bool SurvivesFailedKernels();
#else
inline constexpr const char* kArchitecture = "";
inline constexpr bool kSaysUnified = false;  // its headers leave the properties out
inline bool SurvivesFailedKernels() { return true; }
#endif

/// Whether these are the words of a machine without a GPU, or without a driver.
inline bool SaysWhy(const std::string& text) {
  return text.find("/dev/kfd") != std::string::npos || text.find("VISIBLE_DEVICES") != std::string::npos;
}
inline hipError_t DeviceOf(const void* ptr, int* index) {
  hipPointerAttribute_t attributes{};
  const auto error = hipPointerGetAttributes(&attributes, ptr);
  *index = attributes.device;
  return error;
}
inline hipError_t DeviceByPciId(int* index, const char* pci_id) {
  return hipDeviceGetByPCIBusId(index, pci_id);
}
/// `mode` is 0 for global, 1 for the thread's own, 2 for relaxed.
inline hipError_t BeginCapture(hipStream_t stream, int mode) {
  return hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(mode));
}
/// Throws the graph away.
inline hipError_t EndCapture(hipStream_t stream) {
  hipGraph_t graph{};
  const auto error = hipStreamEndCapture(stream, &graph);
  return error == hipSuccess ? hipGraphDestroy(graph) : error;
}

}  // namespace ferry::hip
