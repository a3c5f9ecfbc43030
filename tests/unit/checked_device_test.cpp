// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/checked_device.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <optional>
#include <stdexcept>

#include "ferry/log.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/stream.hpp"
#include "tests/unit/probe_device.hpp"

using namespace ferry;
using ferry::testing::kMain;
using ferry::testing::ProbeDevice;
using enum MemoryKind;
using enum CopyKind;
using Lines = std::vector<std::string>;

namespace {

/// A checked device over a probe, and the errors that it logs.
struct Checked {
  Checked() {
    SetLogSink([this](LogLevel level, std::string_view line) {
      if (level == LogLevel::kError) logged.emplace_back(line);
    });
  }
  ~Checked() {
    device.reset();
    SetLogSink({});
  }
  Checked(const Checked&) = delete;
  Checked& operator=(const Checked&) = delete;

  Lines logged;
  std::unique_ptr<ProbeDevice> owner = std::make_unique<ProbeDevice>();
  ProbeDevice& probe = *owner;
  std::optional<CheckedDevice> device{std::in_place, std::move(owner)};
  char host[64] = {};
};

/// Runs `call`, which must be misuse that says `what`, and must not reach the next device.
template <class Misuse = std::logic_error, class Call>
void CheckMisuse(Checked& checked, const std::string& what, Call call) {
  const auto reached = checked.probe.calls.size();
  const auto before = checked.device->misuse_count();
  CHECK_THROWS_MATCHES(call(), Misuse, Catch::Matchers::Message("Device::" + what));
  CHECK(checked.device->misuse_count() == before + 1);
  CHECK(checked.probe.calls.size() == reached);
}

/// The same for a call that cannot throw.
template <class Call>
void CheckLogged(Checked& checked, const std::string& what, Call call) {
  const auto reached = checked.probe.calls.size();
  const auto before = checked.device->misuse_count();
  checked.logged.clear();
  call();
  CHECK(checked.logged == Lines{"Device::" + what});
  CHECK(checked.device->misuse_count() == before + 1);
  CHECK(checked.probe.calls.size() == reached);
}

}  // namespace

TEST_CASE("An adaptor of no device is refused") {
  CHECK_THROWS_AS(CheckedDevice(nullptr), std::invalid_argument);
  CHECK_THROWS_AS(PooledDevice(nullptr), std::invalid_argument);
}

TEST_CASE("Null pointers and zero bytes are misuse") {
  Checked checked;
  CheckedDevice& device = *checked.device;
  CheckMisuse(checked, "Allocate: no bytes", [&] { device.Allocate(kDevice, 0, kMain); });
  CheckMisuse<std::invalid_argument>(checked, "Copy: dst is null",
                                     [&] { device.Copy(kHostToDevice, nullptr, checked.host, 1, kMain); });
  CheckMisuse<std::invalid_argument>(checked, "Copy: src is null",
                                     [&] { device.Copy(kHostToDevice, checked.host, nullptr, 1, kMain); });
  CheckMisuse(checked, "Copy: no bytes",
              [&] { device.Copy(kHostToDevice, checked.host, checked.host, 0, kMain); });
  CheckMisuse<std::invalid_argument>(checked, "Fill: dst is null",
                                     [&] { device.Fill(nullptr, std::byte{}, 1, kMain); });
  CheckMisuse(checked, "Fill: no bytes", [&] { device.Fill(checked.host, std::byte{}, 0, kMain); });
}

TEST_CASE("A copy or fill that begins in a block and leaves it is misuse") {
  Checked checked;
  CheckedDevice& device = *checked.device;
  auto* const block = static_cast<char*>(device.Allocate(kDevice, 32, kMain));
  device.Copy(kHostToDevice, block + 16, checked.host, 16, kMain);
  device.Fill(block + 31, std::byte{}, 1, kMain);
  CheckMisuse(checked, "Copy: dst ends outside its block",
              [&] { device.Copy(kHostToDevice, block + 16, checked.host, 17, kMain); });
  CheckMisuse(checked, "Copy: src ends outside its block",
              [&] { device.Copy(kDeviceToHost, checked.host, block, 33, kMain); });
  CheckMisuse(checked, "Fill: dst ends outside its block",
              [&] { device.Fill(block + 1, std::byte{}, 32, kMain); });
  device.Deallocate(kDevice, block, 32, kMain);
}

namespace {

/// Allocates out of one array, so that somebody else's bytes may lie right behind a block.
class InArray final : public ForwardingDevice {
 public:
  explicit InArray(std::byte* array)
      : ForwardingDevice(std::make_unique<host::HostDevice>()), array_(array) {}
  void* Allocate(MemoryKind, std::size_t, StreamHandle) override { return array_; }
  void Deallocate(MemoryKind, void*, std::size_t, StreamHandle) noexcept override {}

 private:
  std::byte* array_;
};

}  // namespace

TEST_CASE("Somebody else's memory right behind a block passes") {
  std::byte array[64] = {};
  CheckedDevice device(std::make_unique<InArray>(array));
  void* const block = device.Allocate(kPinnedHost, 32, kMain);
  REQUIRE(block == array);
  device.Fill(array + 32, std::byte{1}, 32, kMain);
  device.Copy(kDeviceToDevice, array + 48, array + 32, 16, kMain);
  CHECK(device.misuse_count() == 0);
  CHECK(array[63] == std::byte{1});
  device.Deallocate(kPinnedHost, block, 32, kMain);
}

TEST_CASE("A copy whose kind is not that of its memory is misuse") {
  Checked checked;
  CheckedDevice& device = *checked.device;
  void* const block = device.Allocate(kDevice, 32, kMain);
  void* const pinned = device.Allocate(kPinnedHost, 32, kMain);
  void* const managed = device.Allocate(kManaged, 32, kMain);
  device.Copy(kHostToDevice, block, pinned, 32, kMain);
  device.Copy(kDeviceToHost, pinned, block, 32, kMain);
  device.Copy(kDeviceToDevice, managed, block, 32, kMain);
  device.Copy(kHostToDevice, block, managed, 32, kMain);
  CheckMisuse(checked, "Copy: dst is memory of the wrong kind",
              [&] { device.Copy(kHostToDevice, pinned, checked.host, 32, kMain); });
  CheckMisuse(checked, "Copy: src is memory of the wrong kind",
              [&] { device.Copy(kHostToDevice, managed, block, 32, kMain); });
  CheckMisuse(checked, "Copy: dst is memory of the wrong kind",
              [&] { device.Copy(kDeviceToHost, block, managed, 32, kMain); });
  CheckMisuse(checked, "Copy: src is memory of the wrong kind",
              [&] { device.Copy(kDeviceToDevice, block, pinned, 32, kMain); });
  CheckMisuse(checked, "Fill: dst is memory of the wrong kind",
              [&] { device.Fill(pinned, std::byte{}, 32, kMain); });
  device.Deallocate(kDevice, block, 32, kMain);
  device.Deallocate(kPinnedHost, pinned, 32, kMain);
  device.Deallocate(kManaged, managed, 32, kMain);
}

TEST_CASE("Memory goes back once, as the kind and size that it was allocated as") {
  Checked checked;
  CheckedDevice& device = *checked.device;
  void* const block = device.Allocate(kDevice, 32, kMain);
  CheckLogged(checked, "Deallocate: not the kind that was allocated",
              [&] { device.Deallocate(kManaged, block, 32, kMain); });
  CheckLogged(checked, "Deallocate: not the size that was allocated",
              [&] { device.Deallocate(kDevice, block, 31, kMain); });
  CheckLogged(checked, "Deallocate: not a block of this device, or freed before",
              [&] { device.Deallocate(kDevice, checked.host, 32, kMain); });
  device.Deallocate(kDevice, block, 32, kMain);
  CHECK(checked.probe.live == 0);
  CheckLogged(checked, "Deallocate: not a block of this device, or freed before",
              [&] { device.Deallocate(kDevice, block, 32, kMain); });
}

TEST_CASE("A stream is destroyed once, by the device that made it") {
  Checked checked;
  const StreamHandle stream = checked.device->CreateStream();
  checked.device->DestroyStream(stream);
  for (const StreamHandle handle : {stream, kMain, StreamHandle{12345}})
    CheckLogged(checked, "DestroyStream: not a stream of this device, or destroyed before",
                [&] { checked.device->DestroyStream(handle); });
}

TEST_CASE("Where the host uses memory, the stream is ignored") {
  Checked checked;
  CheckedDevice& device = *checked.device;
  constexpr StreamHandle kNone = StreamHandle::kNone;
  for (const MemoryKind kind : {kPinnedHost, kManaged})
    device.Deallocate(kind, device.Allocate(kind, 32, kNone), 32, kNone);
  CHECK(device.misuse_count() == 0);
}

TEST_CASE("Somebody else's streams and memory pass") {
  Checked checked;
  const Stream borrowed = Stream::Borrow(*checked.device, StreamHandle{12345});
  char theirs[8] = {};
  checked.device->Copy(kDeviceToDevice, checked.host, theirs, 8, borrowed.handle());
  checked.device->Fill(theirs, std::byte{1}, 8, borrowed.handle());
  Event(borrowed).StreamWait(Stream::Main(*checked.device));
  borrowed.Synchronize();
  CHECK(checked.device->misuse_count() == 0);
}

TEST_CASE("A stream may wait for an event of another device") {
  Checked first, second;
  const Event point(Stream::Main(*first.device));
  point.StreamWait(Stream::Main(*second.device));
  CHECK(first.device->misuse_count() == 0);
  CHECK(second.device->misuse_count() == 0);
}

namespace {

/// Every call that takes a stream, with one that is none.
void CheckEachUse(Checked& checked, StreamHandle handle) {
  CheckedDevice& device = *checked.device;
  void* const block = device.Allocate(kDevice, 32, kMain);
  const EventHandle event = device.Record(kMain);
  const std::string none = ": not a stream's handle";
  CheckMisuse(checked, "Allocate" + none, [&] { device.Allocate(kDevice, 32, handle); });
  CheckMisuse(checked, "Copy" + none, [&] { device.Copy(kHostToDevice, block, checked.host, 1, handle); });
  CheckMisuse(checked, "Fill" + none, [&] { device.Fill(block, std::byte{}, 1, handle); });
  CheckMisuse(checked, "Synchronize" + none, [&] { device.Synchronize(handle); });
  CheckMisuse(checked, "Record" + none, [&] { device.Record(handle); });
  CheckMisuse(checked, "RecordMeasuring" + none, [&] { device.RecordMeasuring(handle); });
  CheckMisuse(checked, "StreamWait" + none, [&] { device.StreamWait(handle, event); });
  CheckLogged(checked, "Deallocate" + none, [&] { device.Deallocate(kDevice, block, 32, handle); });
  device.Release(event);
  device.Deallocate(kDevice, block, 32, kMain);
}

}  // namespace

TEST_CASE("What is no stream's handle is misuse") {
  Checked checked;
  for (const StreamHandle handle : {StreamHandle::kHost, StreamHandle::kNone}) CheckEachUse(checked, handle);
}

TEST_CASE("An event is this device's, and released once") {
  Checked checked;
  CheckedDevice& device = *checked.device;
  const EventHandle event = device.Record(kMain);
  device.Release(event);
  const std::string unknown = ": not an event of this device, or released before";
  CheckMisuse(checked, "StreamWait: the event was released", [&] { device.StreamWait(kMain, event); });
  CheckMisuse(checked, "HostWait" + unknown, [&] { device.HostWait(event); });
  CheckLogged(checked, "Release" + unknown, [&] { device.Release(event); });
  const EventHandle measuring = device.RecordMeasuring(kMain);
  CheckMisuse(checked, "Elapsed" + unknown, [&] { device.Elapsed(measuring, event); });
  CheckMisuse(checked, "Elapsed" + unknown, [&] { device.Elapsed(event, measuring); });
  CHECK(device.Elapsed(measuring, measuring) == 0);
  device.Release(measuring);
}

namespace {

/// Gives out one handle again and again, as vendors do.
class OneHandle final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  StreamHandle CreateStream() override { return StreamHandle{42}; }
};

}  // namespace

TEST_CASE("A handle that comes again is a new stream") {
  CheckedDevice device(std::make_unique<OneHandle>(std::make_unique<host::HostDevice>()));
  for (int i = 0; i < 3; ++i) {
    const Stream stream(device);
    stream.Synchronize();
  }
  CHECK(device.misuse_count() == 0);
}

TEST_CASE("A handle that comes again may be the stream of somebody else, who lends it") {
  CheckedDevice device(std::make_unique<OneHandle>(std::make_unique<host::HostDevice>()));
  StreamHandle handle{};
  {
    const Stream ours(device);
    handle = ours.handle();
  }
  const Stream theirs = Stream::Borrow(device, handle);
  char bytes[16] = {};
  device.Fill(bytes, std::byte{1}, 8, theirs.handle());
  device.Copy(kDeviceToDevice, bytes + 8, bytes, 8, theirs.handle());
  Event(theirs).StreamWait(theirs);
  theirs.Synchronize();
  device.Deallocate(kDevice, device.Allocate(kDevice, 32, handle), 32, handle);
  CHECK(device.misuse_count() == 0);
  CHECK(bytes[15] == 1);
}

TEST_CASE("What is not given back is an error at the device's end") {
  Checked checked;
  void* const block = checked.device->Allocate(kDevice, 32, kMain);
  (void)checked.device->CreateStream();
  (void)checked.device->Record(kMain);
  (void)checked.device->Record(kMain);
  checked.probe.Deallocate(kDevice, block, 32, kMain);
  checked.device.reset();
  CHECK(checked.logged == Lines{"Device::destructor: 1 blocks, 1 streams and 2 events were not given back"});
}
