// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>

#include "ferry/synced_memory.hpp"
#include "tests/gpu/gpus.hpp"

namespace ferry::testing {

TEST_CASE("What is freed stays in the GPU's pool, whatever its size") {
  const auto device = EachGpu();
  if (!device->properties().memory_pools) return;
  SyncedMemory(1000, *device).overwrite_gpu_data();
  cudaMemPool_t pool{};
  REQUIRE(cudaDeviceGetMemPool(&pool, device->properties().index) == cudaSuccess);
  std::uint64_t threshold = 0;
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(threshold == UINT64_MAX);
}

}  // namespace ferry::testing
