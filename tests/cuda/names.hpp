// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tuple>

#include "backends/cuda/cuda_runtime.hpp"
#include "ferry/backend.hpp"
#include "vendor.hpp"

/// CUDA's names for what tests/gpu needs beside the Runtime.
namespace ferry::cuda {

extern const Backend kBackend;
using Runtime = CudaRuntime;
/// What the library of convolutions takes.
using Convolved = std::tuple<float, double>;
inline constexpr const char* kArchitecture = "sm_";
inline constexpr bool kSaysUnified = true;
inline bool SurvivesFailedKernels() { return true; }

/// Whether these are the words of a machine without a GPU, without a driver, or with the toolkit's stub of
/// one.
inline bool SaysWhy(const std::string& text) {
  return text.find("CUDA driver version is insufficient") != std::string::npos ||
         text.find("no CUDA-capable device is detected") != std::string::npos ||
         text.find("driver is a stub library; the toolkit's stubs are on the library path") !=
             std::string::npos;
}
inline cudaError_t DeviceOf(const void* ptr, int* index) {
  cudaPointerAttributes attributes{};
  const auto error = cudaPointerGetAttributes(&attributes, ptr);
  *index = attributes.device;
  return error;
}
inline cudaError_t DeviceByPciId(int* index, const char* pci_id) {
  return cudaDeviceGetByPCIBusId(index, pci_id);
}
/// `mode` is 0 for global, 1 for the thread's own, 2 for relaxed.
inline cudaError_t BeginCapture(cudaStream_t stream, int mode) {
  return cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode));
}
/// Throws the graph away.
inline cudaError_t EndCapture(cudaStream_t stream) {
  cudaGraph_t graph{};
  const auto error = cudaStreamEndCapture(stream, &graph);
  return error == cudaSuccess ? cudaGraphDestroy(graph) : error;
}

}  // namespace ferry::cuda
