// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>

#include "tests/gpu/gpus.hpp"

namespace ferry::testing {

TEST_CASE("What is freed stays in the GPU's pool, whatever its size") {
  const auto device = EachGpu();
  if (!device->properties().memory_pools) return;
  const StreamHandle on = device->properties().main_stream;
  device->Deallocate(MemoryKind::kDevice, device->Allocate(MemoryKind::kDevice, 1000, on), 1000, on);
  cudaMemPool_t pool{};
  REQUIRE(cudaDeviceGetMemPool(&pool, device->properties().index) == cudaSuccess);
  std::uint64_t threshold = 0;
  REQUIRE(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(threshold == UINT64_MAX);
}

}  // namespace ferry::testing
