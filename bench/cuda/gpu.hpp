// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "bench/compare.hpp"
#include "ferry/backend.hpp"
#include "ferry/cuda.hpp"
#include "ferry/error.hpp"

namespace bench {

/// For the codes of CUDA and cuBLAS, whose success is 0.
inline void Check(int error) {
  if (error != 0) throw std::runtime_error("CUDA: error " + std::to_string(error));
}

/// Memory as CUDA gives it.
template <auto kAllocate, auto kFree>
struct RawMemory {
  explicit RawMemory(std::size_t bytes) { Check(kAllocate(&ptr, bytes)); }
  ~RawMemory() { (void)kFree(ptr); }
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;
  void* ptr = nullptr;
};
using RawDevice = RawMemory<cudaMalloc, cudaFree>;
using RawHost = RawMemory<cudaMallocHost, cudaFreeHost>;  ///< pinned

/// As bytes are spoken of: 4KiB, 1GiB.
inline std::string Text(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  const auto* unit = units;
  for (; bytes >= 1024 && unit != units + 3; bytes /= 1024) ++unit;
  return std::to_string(bytes) + *unit;
}

/// Calls main(gpu) with the first GPU; where there is none it says so and returns 4.
template <class Main>
int OnGpu(const Main& main) try {
  ferry::Device& gpu = ferry::GetDevice("cuda");
  return main(gpu);
} catch (const ferry::NoDevice& error) {
  std::puts(error.what());
  return 4;
}

}  // namespace bench
