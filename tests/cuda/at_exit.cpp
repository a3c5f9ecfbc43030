// SPDX-License-Identifier: BSD-2-Clause
// A memory that is global dies after the context has gone: by cudaDeviceReset with an argument, else as CUDA
// unloads.
#include <cstdio>
#include <optional>

#include "backends/cuda/cuda_runtime.hpp"
#include "ferry/backend.hpp"
#include "ferry/synced_memory.hpp"

namespace {

constexpr int kSkipped = 4;
std::optional<ferry::SyncedMemory> memory;
std::optional<ferry::Stream> stream;

}  // namespace

int main(int argc, char**) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return kSkipped;
  memory.emplace(1000);
  stream.emplace(ferry::DefaultDevice());
  memory->cpu_data();
  memory->mutable_gpu_data(*stream);
  if (argc > 1 && cudaDeviceReset() != cudaSuccess) return 1;
}
