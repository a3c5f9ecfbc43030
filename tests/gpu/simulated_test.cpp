// SPDX-License-Identifier: BSD-2-Clause
// What can only be compared where the vendor's functions are made of the simulated GPU.
#include "tests/gpu/simulated.hpp"

#include "backends/sim/sim_runtime.hpp"
#include "ferry/error.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"
#include "tests/gpu/gpus.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

TEST_CASE("A GPU is described as it is") {
  const auto device = EachGpu();
  const int index = device->properties().index;
  DeviceProperties its;
  REQUIRE(SimRuntime::Describe(index, its) == SimRuntime::kSuccess);
  for (const DeviceProperties& said : {device->properties(), vendor::kBackend.describe(index)}) {
    CHECK(said.backend == Runtime::kName);
    CHECK(said.index == index);
    CHECK(said.name == its.name);
    CHECK(said.memory == its.memory);
    CHECK(said.wavefront == its.wavefront);
    CHECK(said.memory_pools == its.memory_pools);
    CHECK(said.peers == its.peers);
    CHECK(said.unified == (its.unified && vendor::kSaysUnified));
    if (!its.architecture.empty()) CHECK(said.architecture == its.architecture);
  }
}

TEST_CASE("A call that failed leaves no last error behind") {
  const auto device = EachGpu();
  const StreamHandle main = device->properties().main_stream;
  CHECK_THROWS_AS(device->Allocate(MemoryKind::kDevice, 2 * device->properties().memory, main), OutOfMemory);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("Events that put work in order do not take the time") {
  const auto device = EachGpu();
  const int before = simulated::measuring_events;
  SyncedMemory memory(1000, *device);
  memory.mutable_cpu_data();
  memory.gpu_data();
  const Event point(Stream::Main(*device));
  CHECK(simulated::measuring_events == before);
  const Event measuring = Event::Measuring(Stream::Main(*device));
  CHECK(simulated::measuring_events == before + 1);
}

TEST_CASE("A peer's memory is copied directly, never by way of the host") {
  const auto first = MakeDevice(NameOf(0)), second = MakeDevice(NameOf(1));
  if (second->properties().peers.empty()) return;
  const Stream here = Stream::Main(*first), there = Stream::Main(*second);
  SyncedMemory memory(1000, *first);
  first->Fill(memory.overwrite_gpu_data(here), std::byte{1}, 1000, here.handle());
  const long copies = sim::Inspect().copies;
  memory.gpu_data(there);
  CHECK(sim::Inspect().copies == copies + 1);
  CHECK(sim::Inspect().staged_copies == 0);
}

}  // namespace
}  // namespace ferry::testing
