// SPDX-License-Identifier: BSD-2-Clause
// Memory on several devices: where bytes come from, and how a device's memory is given back.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_kernels.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

/// Three devices, the last of which is unified.
struct Devices {
  explicit Devices(sim::Options options = {}) {
    options.devices = 3;
    options.unified_devices = 1;
    sim::Reset(options);
    for (int i = 0; i < 3; ++i) device.push_back(std::make_unique<SimDevice>(i));
  }
  ~Devices() {
    sim::Drain();
    CheckNoMisuse();
  }
  Stream Main(int i) { return Stream::Main(*device[static_cast<std::size_t>(i)]); }
  static long Copies() { return sim::Inspect().copies; }

  std::vector<std::unique_ptr<SimDevice>> device;
};

TEST_CASE("a device whose memory can be read directly is nearer than the host") {
  for (const bool peers : {true, false}) {
    Devices devices({.peers = peers});
    SyncedMemory memory(kBytes, *devices.device[0]);
    Fill(memory, devices.Main(0), 7);
    CHECK(Sees(memory, devices.Main(1)) == 7);
    CHECK(devices.Copies() == (peers ? 1 : 2));
    CHECK(memory.head() == (peers ? SyncedMemory::HEAD_AT_GPU : SyncedMemory::SYNCED));
    CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 7);
    CHECK(devices.Copies() == 2);
    CHECK(Sees(memory, devices.Main(1)) == 7);
    CHECK(Sees(memory, devices.Main(0)) == 7);
    CHECK(devices.Copies() == 2);
  }
}

TEST_CASE("where it is not known whose memory a copy would read, the bytes go by way of the host") {
  Devices devices({.fail_at = 1, .fail_call = "PointerGetAttributes"});
  SyncedMemory memory(kBytes, *devices.device[0]);
  Fill(memory, devices.Main(0), 7);
  CHECK(Sees(memory, devices.Main(1)) == 7);
  CHECK(sim::Inspect().faults == 1);
  CHECK(memory.head() == SyncedMemory::SYNCED);
}

TEST_CASE("what its driver has not allocated a GPU copies only once a unified one has written it") {
  for (const bool late : {true, false})
    for (const bool of_host_device : {true, false}) {
      Devices devices({.order = sim::Order::kLate, .pageable_late = late});
      std::vector<unsigned char> bytes(kBytes, 1);
      SyncedMemory memory(kBytes, of_host_device ? GetDevice("host") : *devices.device[0]);
      if (!of_host_device) memory.set_cpu_data(bytes.data());
      Fill(memory, devices.Main(2), 7);
      CHECK(Sees(memory, devices.Main(0)) == 7);
    }
}

TEST_CASE("a unified device uses the host's memory") {
  Devices devices;
  SyncedMemory memory(kBytes, *devices.device[0]);
  std::memset(memory.overwrite_cpu_data(), 3, kBytes);
  CHECK(Sees(memory, devices.Main(2)) == 3);
  CHECK(devices.Copies() == 0);
  Fill(memory, devices.Main(2), 4);
  CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 4);
  CHECK(devices.Copies() == 0);
  CHECK(Sees(memory, devices.Main(1)) == 4);
  CHECK(devices.Copies() == 1);
  Fill(memory, devices.Main(1), 5);
  CHECK(Sees(memory, devices.Main(2)) == 5);
  CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 5);
  CHECK(devices.Copies() == 2);
  memory.mutable_cpu_data();
  memory.gpu_data({0, 8}, devices.Main(2));
  CHECK(memory.head({0, 8}) == SyncedMemory::SYNCED);
  CHECK(memory.head({8, ByteRange::kRest}) == SyncedMemory::HEAD_AT_CPU);
  const void* const shared = memory.cpu_data();
  memory.Release(*devices.device[2]);  // has nothing of its own
  CHECK(memory.cpu_data() == shared);
  CHECK(memory.head({8, ByteRange::kRest}) == SyncedMemory::HEAD_AT_CPU);
}

TEST_CASE("devices of different backends share a memory by way of the host, which waits for both") {
  for (const bool host_owns : {true, false}) {
    sim::Reset({.order = sim::Order::kLate});
    const auto host = MakeDevice("host"), gpu = MakeDevice("sim");
    const Stream on_host(*host), on_gpu(*gpu);
    SyncedMemory memory(kBytes, host_owns ? *host : *gpu);
    Fill(memory, on_gpu, 5);
    auto* const there = static_cast<unsigned char*>(memory.mutable_gpu_data(on_host));
    CHECK(*there == 5);
    std::memset(there, 6, kBytes);
    CHECK(Sees(memory, on_gpu) == 6);
    CheckNoMisuse();
  }
}

TEST_CASE("zeros on a device wait for the work of another backend that used their bytes before") {
  sim::Reset({.order = sim::Order::kLate, .unified = true});
  const auto host = MakeDevice("host"), gpu = MakeDevice("sim");
  const Stream on_host(*host), on_gpu(*gpu);
  SyncedMemory memory(kBytes, *host);
  Fill(memory, on_gpu, 5);
  memory.Resize(8), memory.Resize(kBytes);
  const auto* const there = static_cast<const unsigned char*>(memory.gpu_data(on_host));
  on_gpu.Synchronize();
  CHECK((there[7] == 5 && there[8] == 0));
  CheckNoMisuse();
}

/// Notes the kinds of copies, and fails the next one, or all within devices, where it is told to.
class Kinds final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    kinds.push_back(kind);
    if (std::exchange(fails, false) || (cut_off && kind == CopyKind::kDeviceToDevice))
      throw DeviceError("Copy", 1, "asked to fail");
    next().Copy(kind, dst, src, bytes, on);
  }
  std::vector<CopyKind> kinds;
  bool fails = false, cut_off = false;
};

TEST_CASE("of several holders the nearest is the source, and if it fails, the next one") {
  using enum CopyKind;
  for (const bool peers : {true, false})
    for (const bool fails : {false, true}) {
      CAPTURE(peers, fails);
      sim::Reset({.devices = 2, .peers = peers});
      Kinds first(std::make_unique<SimDevice>(0)), second(std::make_unique<SimDevice>(1));
      SyncedMemory memory(kBytes, first);
      Fill(memory, Stream::Main(first), 9);
      memory.cpu_data();
      second.fails = fails;
      const Stream on(second);
      if (!peers && fails) {
        // The next holder is reached by way of the one that has failed.
        CHECK_THROWS_AS(memory.gpu_data(on), DeviceError);
        CHECK(memory.head() == SyncedMemory::SYNCED);
      }
      CHECK(Sees(memory, on) == 9);
      CHECK(second.kinds.front() == (peers ? kDeviceToDevice : kHostToDevice));
      CHECK(second.kinds.size() == (fails ? 2 : 1));
      CHECK(second.kinds.back() == (peers && !fails ? kDeviceToDevice : kHostToDevice));
      CHECK(first.kinds == std::vector{kDeviceToHost});
    }
}

TEST_CASE("where a device's memory cannot be read directly after all, its bytes come by way of the host") {
  using enum CopyKind;
  sim::Reset({.devices = 2});
  Kinds first(std::make_unique<SimDevice>(0)), second(std::make_unique<SimDevice>(1));
  SyncedMemory memory(kBytes, first);
  Fill(memory, Stream::Main(first), 9);
  second.cut_off = true;
  CHECK(Sees(memory, Stream::Main(second)) == 9);
  CHECK(first.kinds == std::vector{kDeviceToHost});
  CHECK(second.kinds == std::vector{kDeviceToDevice, kDeviceToDevice, kHostToDevice});
  CHECK(memory.head() == SyncedMemory::SYNCED);
}

TEST_CASE("a memory is on 31 devices at most, and one more is refused before anything has changed") {
  sim::Reset({.devices = 32});
  std::vector<std::unique_ptr<SimDevice>> devices;
  for (int i = 0; i < 32; ++i) devices.push_back(std::make_unique<SimDevice>(i));
  SyncedMemory memory(kBytes, *devices[0], "weights");
  for (int i = 0; i < 31; ++i) Fill(memory, Stream::Main(*devices[static_cast<std::size_t>(i)]), i);
  CHECK_THROWS_MATCHES(memory.gpu_data(Stream::Main(*devices[31])), std::length_error,
                       Message("SyncedMemory: \"weights\" is on 31 devices already, which is the most"));
  memory.Release(*devices[31]);  // has nothing
  CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);
  for (const std::size_t i : {0U, 30U}) CHECK(Sees(memory, Stream::Main(*devices[i])) == 30);
}

TEST_CASE("what is released is given back, and its bytes go where others can have them") {
  for (const bool host : {true, false}) {
    Devices devices;
    SyncedMemory memory(kBytes, *devices.device[0]);
    if (host)
      std::memset(memory.overwrite_cpu_data(), 8, kBytes);
    else
      Fill(memory, devices.Main(0), 8);
    host ? memory.Release(Side::kCpu) : memory.Release(Side::kGpu);
    CHECK(memory.head() == (host ? SyncedMemory::HEAD_AT_GPU : SyncedMemory::HEAD_AT_CPU));
    CHECK(devices.Copies() == 1);
    sim::Drain();
    CHECK(sim::Inspect().leaks.size() == 1 + 1);  // one block, and the device's event
    CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 8);
    CHECK(Sees(memory, devices.Main(0)) == 8);
    memory.Release(*devices.device[1]);  // has nothing
  }
}

TEST_CASE("a release while a stream that uses the bytes is under capture changes nothing") {
  Devices devices;
  const Stream s(*devices.device[0]);
  SyncedMemory memory(kBytes, *devices.device[0]);
  Fill(memory, s, 1);
  memory.cpu_data();
  const void* const ptr = memory.gpu_data(s);
  sim::BeginCapture(s);
  CHECK_THROWS_AS(memory.Release(Side::kGpu), StreamCaptureError);
  CHECK(memory.head() == SyncedMemory::SYNCED);
  sim::EndCapture(s);
  CHECK(memory.gpu_data(s) == ptr);
}

TEST_CASE("a block that a captured stream of another device may still read is not given back") {
  for (const bool known : {true, false}) {  // the point right after the copy
    Devices devices({.order = sim::Order::kLate,
                     .capture_spreads = true,
                     .fail_at = known ? 0 : 2,
                     .fail_call = "EventRecord"});
    const BlockingStream ends(*devices.device[0]), goes_on(*devices.device[1]);
    {
      SyncedMemory memory(kBytes, *devices.device[0], "weights");
      Fill(memory, devices.Main(0), 7);
      memory.gpu_data(devices.Main(1));
      CHECK(sim::Inspect().faults == (known ? 0 : 1));
      sim::BeginCapture(*ends);
      sim::BeginCapture(*goes_on);
    }
    sim::EndCapture(*ends);
    SyncedMemory again(kBytes, *devices.device[0]);
    Fill(again, devices.Main(0), 8);
    CHECK(Sees(again, devices.Main(0)) == 8);
    sim::Drain();
    const auto leaks = sim::Inspect().leaks;
    const auto blocks = std::count_if(leaks.begin(), leaks.end(), [](const std::string& leak) {
      return leak.find("bytes") != std::string::npos;
    });
    CHECK(blocks == 1 + 1 + (known ? 0 : 1));  // of `again`; of the device that is captured; that may be read
  }
}

TEST_CASE("a memory owns what it has allocated on each device") {
  Devices devices;
  SyncedMemory memory(kBytes, *devices.device[0]);
  for (const int i : {0, 1, 2}) CHECK(memory.Owns(memory.overwrite_gpu_data(devices.Main(i))));
}

TEST_CASE("a range that is not within the memory is refused, and names the memory, the range and the size") {
  SimWorld world;
  SyncedMemory memory(kBytes, world.device, "weights");
  CHECK_THROWS_MATCHES(
      memory.cpu_data({60, 8}), std::out_of_range,
      Message("SyncedMemory::cpu_data: 8 bytes from byte 60 on of \"weights\", which has 64"));
  CHECK_THROWS_MATCHES(
      memory.overwrite_gpu_data({65, ByteRange::kRest}, world.side), std::out_of_range,
      Message("SyncedMemory::overwrite_gpu_data: all bytes from byte 65 on of \"weights\", which has 64"));
  CHECK(memory.head() == SyncedMemory::UNINITIALIZED);
  CHECK_NOTHROW(memory.cpu_data({64, 0}));
}

TEST_CASE("only bytes that are stale move, and nothing waits for others") {
  SimWorld world({.order = sim::Order::kLate});
  SyncedMemory memory(kBytes, world.device);
  std::memset(memory.overwrite_cpu_data(), 1, kBytes);
  void* const left = memory.overwrite_gpu_data({0, 32}, world.side);
  bool ran = false;
  sim::Launch(world.side, {{static_cast<std::byte*>(left), 32}}, [&ran, left] {
    ran = true;
    std::memset(left, 2, 32);
  });
  CHECK(*static_cast<const unsigned char*>(memory.cpu_data({32, 32})) == 1);
  memory.mutable_gpu_data({48, 16}, world.main);
  world.main.Synchronize();
  CHECK_FALSE(ran);
  CHECK(sim::Inspect().copies == 1);
  CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);
  CHECK(static_cast<const unsigned char*>(memory.cpu_data())[31] == 2);
  CHECK(sim::Inspect().copies == 3);
}

}  // namespace
}  // namespace ferry::testing
