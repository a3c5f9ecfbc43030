// SPDX-License-Identifier: BSD-2-Clause
// A libcuda.so.1 that has a stack of contexts and nothing else, for contexts_test.cpp.
#include <cuda.h>

#include <vector>

namespace {

thread_local std::vector<CUcontext> contexts;

}  // namespace

extern "C" {

CUresult cuCtxPushCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return contexts.push_back(context), CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = contexts.back();
  return contexts.pop_back(), CUDA_SUCCESS;
}
int FerryContexts() { return static_cast<int>(contexts.size()); }

}  // extern "C"
