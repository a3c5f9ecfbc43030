// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <memory>
#include <string>

#include "backends/cuda/cuda_runtime.hpp"
#include "ferry/backend.hpp"

namespace ferry::cuda {

extern const Backend kBackend;

/// How many GPUs there are; the test is skipped where there is none.
inline int CountGpus() {
  const int count = kBackend.count();
  if (count == 0) SKIP(kBackend.missing());
  return count;
}

/// A test that calls this runs once for each GPU, with the device as MakeDevice makes it.
inline std::unique_ptr<Device> EachGpu() {
  const int count = CountGpus();
  return MakeDevice("cuda:" + std::to_string(GENERATE_REF(Catch::Generators::range(0, count))));
}

/// Waits for all work of a GPU, of streams that are gone too.
inline void Drain(int gpu) {
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess || cudaSetDevice(gpu) != cudaSuccess) return;
  (void)cudaDeviceSynchronize();
  (void)cudaSetDevice(before);
}

/// The error that a call has left behind; empty where none has.
inline std::string LastError() {
  const auto error = cudaGetLastError();
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace ferry::cuda
