// SPDX-License-Identifier: BSD-2-Clause
// In a process of its own: after a kernel failed, nobody may use the device again.
#include <cstring>
#include <optional>

#include "ferry/error.hpp"
#include "ferry/kernels.hpp"
#include "ferry/synced_memory.hpp"
#include "kernel.hpp"  // of tests/<backend>
#include "tests/gpu/gpus.hpp"

namespace ferry::testing {
namespace {

TEST_CASE(
    "After a kernel failed each access of a GPU throws, bytes on the host stay, and all is destroyed in "
    "peace") {
  CountGpus();
  if (!vendor::SurvivesFailedKernels()) SKIP("a failed kernel ends the process here");
  std::unique_ptr<Device> device = MakeDevice(NameOf(0));
  std::optional<SyncedMemory> here(std::in_place, 1000, *device), there(std::in_place, 1000, *device);
  std::memset(here->overwrite_cpu_data(), 5, 1000);
  const Place place = Place::On(Stream::Main(*device));  // what kernels keep is there, and goes at exit
  Set(place, 1000, char{1}, place.Overwrite<char>(*there));
  auto* const kept = static_cast<char*>(there->mutable_gpu_data());
  {
    const vendor::Kernel fail("Fail");
    fail.Launch(Stream::Main(*device));
    CHECK_THROWS_AS(Stream::Main(*device).Synchronize(), DeviceError);
  }
  CHECK_THROWS_AS(there->cpu_data(), DeviceError);
  if (!device->properties().unified) {  // there nothing is copied, and only a wait can fail
    CHECK(there->head() == SyncedMemory::HEAD_AT_GPU);
    CHECK_THROWS(here->gpu_data());
  }
  if (place.side() == Side::kGpu) CHECK_THROWS_AS(Set(place, 1000, char{1}, kept), DeviceError);
  CHECK(static_cast<const char*>(here->cpu_data())[999] == 5);
  here.reset();
  there.reset();
  device.reset();
}

}  // namespace
}  // namespace ferry::testing
