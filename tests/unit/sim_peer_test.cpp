// SPDX-License-Identifier: BSD-2-Clause
// Copies of another device's memory: what gives access to it, and when.
#include <cstring>
#include <memory>
#include <vector>

#include "ferry/error.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

const auto kMain = reinterpret_cast<SimRuntime::Stream>(std::uintptr_t{1});

/// Two blocks of the bare runtime, the second one on the device that is current afterwards.
struct Blocks {
  explicit Blocks(const sim::Options& options) {
    sim::Reset(options);
    for (int device = 0; device < 2; ++device) {
      REQUIRE(SimRuntime::SetDevice(device) == SimRuntime::kSuccess);
      const auto error = options.memory_pools ? SimRuntime::MallocAsync(&block[device], kBytes, kMain)
                                              : SimRuntime::Malloc(&block[device], kBytes);
      REQUIRE(error == SimRuntime::kSuccess);
    }
    REQUIRE(SimRuntime::DeviceSynchronize() == SimRuntime::kSuccess);
  }
  SimRuntime::Error Copy() {
    return SimRuntime::MemcpyAsync(block[1], block[0], kBytes, SimRuntime::kDeviceToDevice, kMain);
  }
  void* block[2] = {};
};

TEST_CASE("a pool's memory is read by a peer only if the pool is open to it") {
  Blocks blocks({.devices = 2});
  REQUIRE(SimRuntime::DeviceEnablePeerAccess(0) == SimRuntime::kSuccess);  // does not open pools
  CHECK(blocks.Copy() == SimRuntime::kInvalidValue);
  CHECK(Contains(OnlyMisuse(), "a pool that is not open to this device"));
  REQUIRE(SimRuntime::OpenPool(1, 0) == SimRuntime::kSuccess);  // the other way round
  CHECK(blocks.Copy() == SimRuntime::kInvalidValue);
  REQUIRE(SimRuntime::OpenPool(0, 1) == SimRuntime::kSuccess);
  CHECK(blocks.Copy() == SimRuntime::kSuccess);
  CHECK(sim::Inspect().copies == 1);
  CHECK(sim::Inspect().staged_copies == 0);
}

TEST_CASE("a peer's memory is copied between devices, and not to the host") {
  Blocks blocks({.devices = 2});
  REQUIRE(SimRuntime::OpenPool(0, 1) == SimRuntime::kSuccess);
  char host[kBytes] = {};
  CHECK(SimRuntime::MemcpyAsync(host, blocks.block[0], kBytes, SimRuntime::kDeviceToHost, kMain) ==
        SimRuntime::kInvalidValue);
  CHECK(Contains(OnlyMisuse(), "memory of another device"));
}

TEST_CASE("other memory of a peer goes by way of the host until access is enabled") {
  Blocks blocks({.devices = 2, .memory_pools = false});
  CHECK(blocks.Copy() == SimRuntime::kSuccess);
  CHECK(sim::Inspect().staged_copies == 1);
  CHECK(SimRuntime::DeviceEnablePeerAccess(0) == SimRuntime::kSuccess);
  CHECK(blocks.Copy() == SimRuntime::kSuccess);
  CHECK(sim::Inspect().staged_copies == 1);
  CHECK(SimRuntime::DeviceEnablePeerAccess(0) == SimRuntime::kPeerAccessAlreadyEnabled);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kPeerAccessAlreadyEnabled);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("memory of a device that is no peer is not read") {
  Blocks blocks({.devices = 2, .peers = false, .memory_pools = false});
  CHECK(blocks.Copy() == SimRuntime::kInvalidValue);
  CHECK(Contains(OnlyMisuse(), "memory of another device"));
}

TEST_CASE("peers are the other devices that are not unified") {
  sim::Reset({.devices = 3, .unified_devices = 1});
  CHECK(SimDevice(0).properties().peers == std::vector{1});
  CHECK(SimDevice(2).properties().peers == std::vector{0, 1});
}

TEST_CASE("there is no access to a device that is no peer") {
  for (const bool unified : {false, true}) {
    sim::Reset({.devices = 2, .unified = unified, .peers = unified});
    CHECK(SimRuntime::DeviceEnablePeerAccess(1) == SimRuntime::kInvalidDevice);
    CHECK(SimRuntime::OpenPool(1, 0) == SimRuntime::kInvalidDevice);
    CHECK(sim::Inspect().misuse.size() == 2);
    CHECK(SimRuntime::GetLastError() == SimRuntime::kInvalidDevice);
  }
}

/// GPUs with a stream and a block each, which is full of the device's number.
struct Gpus {
  explicit Gpus(const sim::Options& options) {
    sim::Reset(options);
    for (int i = 0; i < options.devices; ++i) {
      device.push_back(std::make_unique<SimDevice>(i));
      stream.emplace_back(*device.back());
      block.push_back(device.back()->Allocate(MemoryKind::kDevice, kBytes, stream.back().handle()));
      device.back()->Fill(block.back(), static_cast<std::byte>(i), kBytes, stream.back().handle());
      stream.back().Synchronize();
    }
  }
  ~Gpus() {
    for (const Stream& each : stream) each.Synchronize();
    for (std::size_t i = 0; i < device.size(); ++i)
      device[i]->Deallocate(MemoryKind::kDevice, block[i], kBytes, stream[i].handle());
  }
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;

  void Copy(std::size_t to, std::size_t from) {
    CallsOf(to, from);
    stream[to].Synchronize();
  }
  /// How many calls of the runtime a copy makes.
  long CallsOf(std::size_t to, std::size_t from) {
    const long before = sim::Inspect().runtime_calls;
    device[to]->Copy(CopyKind::kDeviceToDevice, block[to], block[from], kBytes, stream[to].handle());
    return sim::Inspect().runtime_calls - before;
  }
  int First(std::size_t of) {
    std::byte seen{};
    device[of]->Copy(CopyKind::kDeviceToHost, &seen, block[of], 1, stream[of].handle());
    stream[of].Synchronize();
    return static_cast<int>(seen);
  }

  std::vector<std::unique_ptr<SimDevice>> device;
  std::vector<Stream> stream;
  std::vector<void*> block;
};

TEST_CASE("a device reads its peers' memory, with pools and without") {
  for (const bool pools : {true, false}) {
    Gpus gpus({.devices = 3, .memory_pools = pools});
    gpus.Copy(1, 0);
    gpus.Copy(2, 1);
    CHECK(gpus.First(2) == 0);
    CHECK(sim::Inspect().staged_copies == 0);
    CHECK(sim::Inspect().misuse.empty());
    CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  }
}

TEST_CASE("access that the program has enabled before is no error") {
  Gpus gpus({.devices = 2});
  REQUIRE(SimRuntime::SetDevice(1) == SimRuntime::kSuccess);
  REQUIRE(SimRuntime::DeviceEnablePeerAccess(0) == SimRuntime::kSuccess);
  gpus.Copy(1, 0);
  CHECK(gpus.First(1) == 0);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("a peer is opened once, by the first copy that reads its memory, and no other one with it") {
  sim::Reset({.devices = 3});
  {
    SimDevice first{0}, second{1}, unused{2};
    const StreamHandle main = first.properties().main_stream;
    void* const there = first.Allocate(MemoryKind::kDevice, kBytes, main);
    void* const here = second.Allocate(MemoryKind::kDevice, 2 * kBytes, main);
    second.Copy(CopyKind::kDeviceToDevice, here, there, kBytes, main);
    CHECK(sim::Inspect().contexts == 2);
    first.Deallocate(MemoryKind::kDevice, there, kBytes, main);
    second.Deallocate(MemoryKind::kDevice, here, 2 * kBytes, main);
  }
  Gpus gpus({.devices = 3});
  const long opening = gpus.CallsOf(1, 0);
  const long asking = gpus.CallsOf(1, 0);
  CHECK(opening > asking);
  CHECK(gpus.CallsOf(1, 2) == opening);
  CHECK(gpus.CallsOf(1, 0) == asking - 1);  // nobody is left whose memory it could be
  CHECK(gpus.CallsOf(1, 2) == asking - 1);
}

TEST_CASE("a pool that cannot be opened is an error of the copy, and the next copy tries again") {
  Gpus gpus({.devices = 2, .fail_at = 1, .fail_call = "MemPoolSetAccess"});
  CHECK_THROWS_AS(gpus.Copy(1, 0), DeviceError);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
  gpus.Copy(1, 0);
  CHECK(gpus.First(1) == 0);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("access that cannot be enabled makes copies slower, and nothing worse") {
  Gpus gpus({.devices = 2, .memory_pools = false, .fail_at = 1, .fail_call = "DeviceEnablePeerAccess"});
  gpus.Copy(1, 0);
  CHECK(gpus.First(1) == 0);
  CHECK(sim::Inspect().staged_copies == 1);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("a peer is opened although another stream is under capture") {
  Gpus gpus({.devices = 2});
  const Stream captured(*gpus.device[1]);
  sim::BeginCapture(captured);
  gpus.Copy(1, 0);
  CHECK_NOTHROW(sim::EndCapture(captured));
  CHECK(gpus.First(1) == 0);
}

}  // namespace
}  // namespace ferry::testing
