// SPDX-License-Identifier: BSD-2-Clause
// How the uses of a buffer end where streams can't simply wait.
#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

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
    if (may_throw) {
      uses.EndBefore(on);
      uses.Clear();
    } else {
      CHECK(uses.TryEndBefore(on));
    }
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

TEST_CASE("a copy that can't be ordered is waited for alone, without what is queued behind it") {
  UseFixture f;
  f.AddCopy(kOverwrite, f.a);
  f.device.Take();
  f.device.FailAt(1);
  CHECK(f.uses.TryEndBefore(f.b));
  CHECK(f.device.Take() == Calls{"s2 waits for e1", "host waits for e1"});
}

/// It records no event; its driver refuses the first waits for a stream, and then answers.
class Refusing final : public ForwardingDevice {
 public:
  Refusing(std::exception_ptr record, int refusals)
      : ForwardingDevice(std::make_unique<LogDevice>()), record_(std::move(record)), refusals_(refusals) {}
  EventHandle Record(StreamHandle) override { std::rethrow_exception(record_); }
  void Synchronize(StreamHandle on) override {
    if (refusals_-- > 0) throw DeviceError("Synchronize", 2, "no answer");
    ForwardingDevice::Synchronize(on);
    ++waits_;
  }
  int waits() const { return waits_; }

 private:
  std::exception_ptr record_;
  int refusals_, waits_ = 0;
};

TEST_CASE("a driver that refuses once is asked again; when it refuses twice, work that it captures is left") {
  const std::exception_ptr errors[] = {
      std::make_exception_ptr(StreamCaptureError("Record", 1, "under capture")),
      std::make_exception_ptr(std::bad_alloc())};
  for (const std::exception_ptr& error : errors)
    for (const int refusals : {1, 2}) {
      Refusing device(error, refusals);
      const Stream lent = Stream::Borrow(device, StreamHandle{77});
      UseList uses;
      Dying dying;
      uses.Prepare({}, kOverwrite, lent, dying);
      uses.Note({}, kOverwrite, lent, dying);
      const bool captured = error == errors[0], answers = refusals == 1;
      CHECK(uses.TryEndBeforeHost() == (answers || !captured));
      CHECK(device.waits() == (answers ? 1 : 0));
    }
}

}  // namespace
}  // namespace ferry::detail
