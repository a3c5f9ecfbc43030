// SPDX-License-Identifier: BSD-2-Clause
// In a process of its own, whose end is part of the test.
#include "ferry/error.hpp"
#include "kernel.hpp"  // of tests/<backend>
#include "tests/gpu/device_space_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("After a kernel failed nothing of Kokkos' is called, which would end the program") {
  void* flags = nullptr;
  {
    World world;
    const Stream side(*world.second), later(*world.second);
    RunOnGpu(side, world.launched_on, [&](const DeviceSpace& space) { flags = space.flags(); });
    MakeCurrent(kOwn);
    vendor::Kernel("Fail").Launch(side);
    CHECK_THROWS_AS(side.Synchronize(), DeviceError);
    for (const Stream* const on : {&side, &later})
      CHECK_THROWS_AS(RunOnGpu(*on, world.launched_on, [](const DeviceSpace&) { FAIL(); }), DeviceError);
  }
  (void)Runtime::Free(flags);  // which the instance still has
  MakeCurrent(0);
}

}  // namespace
}  // namespace ferry::testing
