// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// Stands before HIP's own in a build with hip-config.cmake of the folder above: HIP's headers for NVIDIA GPUs, of 5.2 to
// 5.7, with what CUDA 13 has taken away since, under its old names.
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace ferry::hip::nvidia {

struct DeviceProp : cudaDeviceProp {
  int clockRate, memoryClockRate, computeMode, cooperativeMultiDeviceLaunch, kernelExecTimeoutEnabled;
};

inline cudaMemLocation Location(int device) {
  cudaMemLocation location{};
  location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device < 0 ? 0 : device;
  return location;
}
inline cudaError_t MemAdvise(const void* ptr, std::size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(ptr, bytes, advice, Location(device));
}
inline cudaError_t MemPrefetchAsync(const void* ptr, std::size_t bytes, int device, cudaStream_t on) {
  return cudaMemPrefetchAsync(ptr, bytes, Location(device), 0, on);
}
inline CUresult CtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, nullptr, flags, device);
}
/// A call that nothing here makes.
struct Gone {
  template <class... Arguments>
  explicit Gone(const Arguments&...) {}
  operator cudaError_t() const { return cudaErrorNotSupported; }
  operator CUresult() const { return CUDA_ERROR_NOT_SUPPORTED; }
};

}  // namespace ferry::hip::nvidia

#ifdef __CUDACC__  // the headers have more for nvcc
template <class T, int kDimensions, cudaTextureReadMode kMode>
struct texture;
#endif

#undef cuCtxCreate
#define cudaDeviceProp ferry::hip::nvidia::DeviceProp
#define cudaMemAdvise ferry::hip::nvidia::MemAdvise
#define cudaMemPrefetchAsync ferry::hip::nvidia::MemPrefetchAsync
#define cuCtxCreate ferry::hip::nvidia::CtxCreate
#define cudaDevAttrCooperativeMultiDeviceLaunch static_cast<cudaDeviceAttr>(96)
#define cudaLaunchCooperativeKernelMultiDevice ferry::hip::nvidia::Gone
#define cudaGraphAddDependencies ferry::hip::nvidia::Gone
#define cudaGraphRemoveDependencies ferry::hip::nvidia::Gone
#define cudaGraphGetEdges ferry::hip::nvidia::Gone
#define cudaGraphNodeGetDependencies ferry::hip::nvidia::Gone
#define cudaGraphNodeGetDependentNodes ferry::hip::nvidia::Gone
#define cudaStreamGetCaptureInfo_v2 ferry::hip::nvidia::Gone
#define cuStreamGetCaptureInfo_v2 ferry::hip::nvidia::Gone
#define cudaStreamUpdateCaptureDependencies ferry::hip::nvidia::Gone
#define cudaBindTexture ferry::hip::nvidia::Gone
#define cudaBindTexture2D ferry::hip::nvidia::Gone
#define cudaGetTextureAlignmentOffset ferry::hip::nvidia::Gone
#include_next <hip/hip_runtime_api.h>
#undef cudaDeviceProp
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cuCtxCreate
#undef cudaDevAttrCooperativeMultiDeviceLaunch
#undef cudaLaunchCooperativeKernelMultiDevice
#undef cudaGraphAddDependencies
#undef cudaGraphRemoveDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaStreamGetCaptureInfo_v2
#undef cuStreamGetCaptureInfo_v2
#undef cudaStreamUpdateCaptureDependencies
#undef cudaBindTexture
#undef cudaBindTexture2D
#undef cudaGetTextureAlignmentOffset

// The headers have these types, and not their values.
inline constexpr auto hipMemLocationTypeDevice = cudaMemLocationTypeDevice;
inline constexpr auto hipMemAccessFlagsProtReadWrite = cudaMemAccessFlagsProtReadWrite;

#ifndef __CUDACC__  // the headers keep these for nvcc
inline hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  cudaStreamCaptureStatus its{};
  const auto error = cudaStreamIsCapturing(stream, &its);
  *status = static_cast<hipStreamCaptureStatus>(its);
  return hipCUDAErrorTohipError(error);
}
inline hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return hipCUDAErrorTohipError(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)));
}
inline hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  auto its = static_cast<cudaStreamCaptureMode>(*mode);
  const auto error = cudaThreadExchangeStreamCaptureMode(&its);
  *mode = static_cast<hipStreamCaptureMode>(its);
  return hipCUDAErrorTohipError(error);
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return hipCUDAErrorTohipError(cudaStreamEndCapture(stream, graph));
}
inline hipError_t hipGraphDestroy(hipGraph_t graph) {
  return hipCUDAErrorTohipError(cudaGraphDestroy(graph));
}
#endif
