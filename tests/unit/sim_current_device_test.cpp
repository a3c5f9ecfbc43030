// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/generators/catch_generators.hpp>
#include <new>
#include <stdexcept>

#include "backends/gpu/current_device_by.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;
using SimCurrent = gpu::CurrentDeviceBy<SimRuntime>;

/// Knows of no context but that of device 1.
struct OneContext : SimRuntime {
  static Error ContextIsActive(int index, bool* active) noexcept { return *active = index == 1, kSuccess; }
};

TEST_CASE("a device is made current, and the one before it named") {
  SimWorld world({.devices = 2});
  CHECK(SimCurrent::Replace(1) == 0);
  CHECK_THROWS_AS(SimCurrent::Replace(2), DeviceError);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  CHECK(SimCurrent::Replace(0) == 1);
  CHECK(SimCurrent::Current() == 0);
}

TEST_CASE("the device before is put back whichever is current by then, unless that would make a context") {
  SimWorld world({.devices = 3});
  SimRuntime::SetDevice(2);  // as Kokkos::initialize does
  SimCurrent::PutBack(0);
  CHECK(SimCurrent::Current() == 0);
  using Current = gpu::CurrentDeviceBy<OneContext>;
  SimRuntime::SetDevice(2);
  Current::PutBack(0);
  CHECK(SimCurrent::Current() == 2);
  Current::PutBack(1);
  CHECK(SimCurrent::Current() == 1);
  SimRuntime::SetDevice(0);
}

TEST_CASE("a device that is current already is not set again, and not put back") {
  SimWorld world({.fail_at = 1, .fail_call = "SetDevice"});
  CHECK(SimCurrent::Replace(0) == 0);
  SimCurrent::PutBack(0);
  CHECK(sim::Inspect().calls == 0);
}

TEST_CASE("to put a device back where the driver has gone throws nothing, and leaves no last error") {
  SimWorld world({.devices = 2});
  SimRuntime::SetDevice(1);
  SimCurrent::PutBack(7);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  SimRuntime::SetDevice(0);
}

TEST_CASE("a library may allocate and wait while another stream is under capture") {
  SimWorld world;
  const Stream captured(world.device);
  sim::BeginCapture(captured);
  const auto side = reinterpret_cast<SimRuntime::Stream>(world.side.handle());
  SimCurrent::CallLibrary("kernel", [side] {
    void* block = nullptr;
    CHECK(SimRuntime::Malloc(&block, 8) == SimRuntime::kSuccess);
    CHECK(SimRuntime::StreamSynchronize(side) == SimRuntime::kSuccess);
    CHECK(SimRuntime::Free(block) == SimRuntime::kSuccess);
  });
  CHECK_NOTHROW(sim::EndCapture(captured));
}

/// What a call that fails leaves, for a library that does not look.
void FailSilently() { (void)SimRuntime::SetDevice(99); }

TEST_CASE("an error that a library has not looked at is thrown, with the name of what was done") {
  const bool last_call_only = GENERATE(false, true);
  SimWorld world({.last_call_only = last_call_only});
  try {
    SimCurrent::CallLibrary("kernel", FailSilently);
    FAIL("the library's call has failed");
  } catch (const DeviceError& error) {
    CHECK(error.call() == "sim kernel");
    CHECK(error.code() == SimRuntime::kInvalidDevice);
  }
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("an error from before the library is not the library's, except around a call within a call") {
  SimWorld world;
  FailSilently();
  CHECK_NOTHROW(SimCurrent::CallLibrary("kernel", [] {}));
  const auto within = [] { SimCurrent::CallLibrary("inner", [] {}); };
  CHECK_THROWS_AS(SimCurrent::CallLibrary("outer", [&] { FailSilently(), within(); }), DeviceError);
  CHECK_NOTHROW(SimCurrent::CallLibrary("outer", within));
}

TEST_CASE("a runtime_error that a library throws is a DeviceError with its words; others pass as they are") {
  struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  SimWorld world;
  try {
    SimCurrent::CallLibrary("kernel", [] { FailSilently(), throw std::runtime_error("its words"); });
    FAIL("the library has thrown");
  } catch (const DeviceError& error) {
    CHECK(Contains(error.what(), "its words"));
    CHECK(error.code() == SimRuntime::kInvalidDevice);
  }
  CHECK_THROWS_AS(SimCurrent::CallLibrary("kernel", [] { throw Own("the caller's"); }), Own);
  CHECK_THROWS_AS(SimCurrent::CallLibrary("kernel", [] { throw NoDevice("Ferry's"); }), NoDevice);
  CHECK_THROWS_AS(SimCurrent::CallLibrary("kernel", [] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_CASE("work that is still queued, where a vendor takes that for the last error, is no error") {
  struct NotReady : SimRuntime {
    static Error GetLastError() noexcept { return kNotReady; }
  };
  CHECK_NOTHROW(gpu::CurrentDeviceBy<NotReady>::CallLibrary("kernel", [] {}));
}

TEST_CASE("whether a stream works is known when its work is done, and leaves captures alone") {
  SimWorld world;
  const Stream captured(world.device);
  sim::BeginCapture(captured);
  bool ran = false;
  sim::Launch(world.side, {}, [&] { ran = true; });
  CHECK(SimCurrent::Works(world.side.handle()));
  CHECK(ran);
  CHECK(SimCurrent::Works(captured.handle()));
  sim::EndCapture(captured);
  sim::Launch(world.side, {}, [] { throw 1; });
  CHECK_FALSE(SimCurrent::Works(world.side.handle()));
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  CHECK(sim::Inspect().misuse.empty());
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
  {
    const BlockingStream captured(world.device);
    sim::BeginCapture(*captured);
    works(*captured);
    works(world.main);
    sim::EndCapture(*captured);
  }

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
