// SPDX-License-Identifier: BSD-2-Clause
// In a process of its own: after a kernel failed, nobody may use the device again.
#include "ferry/array.hpp"
#include "ferry/detail/kernel_place.hpp"
#include "ferry/error.hpp"
#include "ferry/kernels.hpp"
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
  const Place cpu = Place::Cpu(*device), place(*device);
  Array<char> here(1000, *device), there(1000, *device);
  Set(cpu, 5, here);
  Set(place, 1, there);  // what kernels keep is there, and goes at exit
  static_cast<void>(place.ReadWrite(there));
  const bool on_gpu = detail::KernelPlace(place)->side() == Side::kGpu;
  {
    const vendor::Kernel fail("Fail");
    fail.Launch(Stream::Main(*device));
    CHECK_THROWS_AS(Stream::Main(*device).Synchronize(), DeviceError);
  }
  CHECK_THROWS_AS(cpu.Read(there), DeviceError);
  if (!device->properties().unified) {  // there nothing is copied, and only a wait can fail
    CHECK(there.memory()->head() == SyncedMemory::HEAD_AT_GPU);
    CHECK_THROWS(place.Read(here));
  }
  if (on_gpu) CHECK_THROWS_AS(Set(place, 1, there), DeviceError);
  CHECK(cpu.Read(here)[999] == 5);
  here = {};
  there = {};
  device.reset();
}

}  // namespace
}  // namespace ferry::testing
