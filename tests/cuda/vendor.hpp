// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/cuda.hpp"

/// CUDA's names for its default streams. Nothing here differs in a file that is compiled for those per
/// thread.
namespace ferry::cuda {

inline const cudaStream_t kPerThread = cudaStreamPerThread;
/// The main stream, as Ferry has it and as a file that is compiled for default streams per thread names it.
inline const cudaStream_t kMainHandle = cudaStreamLegacy, kMainByName = cudaStreamLegacy;

}  // namespace ferry::cuda

namespace ferry {
namespace vendor = cuda;
}
