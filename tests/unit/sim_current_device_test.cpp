// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/current_device_by.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;
using SimCurrent = gpu::CurrentDeviceBy<SimRuntime>;

TEST_CASE("a device is made current, and the one before it named") {
  SimWorld world({.devices = 2});
  CHECK(SimCurrent::Replace(1) == 0);
  CHECK_THROWS_AS(SimCurrent::Replace(2), DeviceError);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  CHECK(SimCurrent::Replace(0) == 1);
}

TEST_CASE("a stream that has work, or is under capture, works; and none after a kernel has failed") {
  SimWorld world({.capture_spreads = true});
  const auto works = [](const Stream& stream) {
    CHECK_NOTHROW(SimCurrent::RequireWorking(stream.handle()));
    CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  };
  works(world.side);
  sim::Launch(world.side, {}, [] {});
  works(world.side);
  sim::BeginCapture(world.side);
  works(world.side);
  works(world.main);
  sim::EndCapture(world.side);

  sim::Launch(world.side, {}, [] { throw 1; });
  sim::Drain();
  try {
    SimCurrent::RequireWorking(world.main.handle());
    FAIL("the device has failed");
  } catch (const DeviceError& error) {
    CHECK(error.code() == SimRuntime::kLaunchFailed);
  }
  CHECK(sim::Inspect().misuse.empty());
}

}  // namespace
}  // namespace ferry::testing
