// SPDX-License-Identifier: BSD-2-Clause
// How the uses of a buffer end where streams can't simply wait.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "tests/property/clock_device.hpp"
#include "use_list_fixture.hpp"

namespace ferry::detail {
namespace {

TEST_CASE("what another backend's stream has used is given back after a wait of the host") {
  using testing::ClockDevice;
  testing::ClockMachine machine(8);
  ClockDevice one(machine, 0, 0, {}), other(machine, 1, 0, {});
  const Stream user(one), on(other);
  for (const bool may_throw : {true, false}) {
    CAPTURE(may_throw);
    machine.Reset();
    UseList uses;
    Dying dying;
    const void* const ptr = machine.Allocate(0, false, 0);
    uses.Prepare({}, kOverwrite, user, dying);
    uses.Note({}, kOverwrite, user, dying);
    machine.Use(ptr, 8, true, ClockDevice::Of(user.handle()));
    if (may_throw) uses.EndBefore(on);
    if (!may_throw) CHECK(uses.TryEndBefore(on));
    machine.Use(ptr, 8, true, ClockDevice::Of(on.handle()));
    CHECK(machine.wrong == "");
    CHECK(uses.empty());
  }
}

TEST_CASE("readers on many streams that have ended are waited for, as long as they are not over") {
  UseFixture f;
  f.device.Launch([] {});
  for (int i = 0; i < 100; ++i) f.Add(kRead, Stream(f.device));
  f.device.Take();
  f.Add(kOverwrite, f.a);
  CHECK(f.device.Take().size() == 100);
}

/// All its streams are under graph capture, and its driver can't say more.
class Captured final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  EventHandle Record(StreamHandle) override { throw StreamCaptureError("Record", 1, "under capture"); }
  void Synchronize(StreamHandle) override { throw DeviceError("Synchronize", 2, "no answer"); }
};

TEST_CASE("a use on a stream under capture is left, though the driver fails when it is asked again") {
  Captured device(std::make_unique<LogDevice>());
  const Stream lent = Stream::Borrow(device, StreamHandle{77}), on = Stream::Main(device);
  UseList uses;
  Dying dying;
  uses.Prepare({}, kOverwrite, lent, dying);
  uses.Note({}, kOverwrite, lent, dying);
  CHECK_FALSE(uses.TryEndBefore(on));
  CHECK_FALSE(uses.TryEndBeforeHost());
  CHECK_FALSE(uses.empty());
}

}  // namespace
}  // namespace ferry::detail
