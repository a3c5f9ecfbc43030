// SPDX-License-Identifier: BSD-2-Clause
// Which GPUs hold memory for a context, by the contexts of the fake CUDA runtime.
#include <catch2/catch_test_macros.hpp>

#include "ferry/backend.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("a program that uses the second GPU alone makes one context") {
  {
    const auto device = MakeDevice("cuda:1");
    SyncedMemory memory(64, *device);
    memory.mutable_cpu_data();
    memory.mutable_gpu_data();
    memory.cpu_data();
  }
  CHECK(sim::Inspect().contexts == 1);
}

}  // namespace
}  // namespace ferry::testing
