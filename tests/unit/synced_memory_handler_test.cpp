// SPDX-License-Identifier: BSD-2-Clause
// What is asked when a device is out of memory.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/live.hpp"
#include "ferry/out_of_memory.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_kernels.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

/// Puts back the handler that there was.
struct WithHandler {
  explicit WithHandler(OutOfMemoryHandler handler) : before(SetOutOfMemoryHandler(std::move(handler))) {}
  ~WithHandler() { SetOutOfMemoryHandler(std::move(before)); }
  WithHandler(const WithHandler&) = delete;
  WithHandler& operator=(const WithHandler&) = delete;
  OutOfMemoryHandler before;
};

TEST_CASE("a program's own policy evicts arrays, so that four times the device's memory is enough") {
  for (const bool pooled : {true, false}) {
    sim::Reset({.memory = 16384});
    const std::unique_ptr<Device> device = pooled ? MakeDevice("sim") : std::make_unique<SimDevice>(0);
    std::list<std::unique_ptr<SyncedMemory>> memories;
    std::list<SyncedMemory*> least_recent;
    const WithHandler evicts([&](Device& of, std::size_t bytes) {
      CHECK(&of == device.get());
      CHECK(bytes == 4096);
      if (least_recent.empty()) return false;
      least_recent.front()->Release(Side::kGpu);
      least_recent.pop_front();
      return true;
    });
    for (int i = 0; i < 16; ++i) {
      memories.push_back(std::make_unique<SyncedMemory>(4096, *device));
      Fill(*memories.back(), Stream::Main(*device), i);
      least_recent.push_back(memories.back().get());
    }
    int i = 0;
    for (const auto& memory : memories) {
      CHECK(Sees(*memory, Stream::Main(*device)) == i++);
      least_recent.remove(memory.get());
      least_recent.push_back(memory.get());
    }
    CheckNoMisuse();
  }
}

/// Has no host memory, and counts how often it was trimmed.
struct NoHostMemory : ForwardingDevice {
  using ForwardingDevice::ForwardingDevice;
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    if (kind == MemoryKind::kPinnedHost) throw OutOfMemory("the host", bytes);
    return ForwardingDevice::Allocate(kind, bytes, on);
  }
  void Trim() override {
    ++trims;
    ForwardingDevice::Trim();
  }
  int trims = 0;
};

TEST_CASE("what is full on the way to a device is what the handler is asked about, and the error lists") {
  sim::Reset({.devices = 2, .peers = false});
  NoHostMemory first(MakeDevice("sim:0"));
  const auto second = MakeDevice("sim:1");
  SyncedMemory memory(64, first, "through"), other(128, *second, "there");
  memory.overwrite_gpu_data();
  other.overwrite_gpu_data();
  const Device* asked = nullptr;
  const WithHandler handler([&](Device& device, std::size_t) { return asked = &device, false; });
  std::string text;
  try {
    memory.gpu_data(Stream::Main(*second));
  } catch (const OutOfMemory& error) {
    text = error.what();
  }
  CHECK(asked == &first);
  CHECK(text.find("\"through\"") != std::string::npos);
  CHECK(text.find("\"there\"") == std::string::npos);
}

TEST_CASE("a limit that refuses leaves the pool alone, since the device was not asked") {
  sim::Reset();
  NoHostMemory device(MakeDevice("sim:0"));
  SyncedMemory first(64, device), second(64, device);
  first.overwrite_gpu_data();
  SetMemoryLimit(device, 64);
  const WithHandler releases([&](Device&, std::size_t) { return SetMemoryLimit(device, 128), true; });
  second.overwrite_gpu_data();
  CHECK(device.trims == 0);
  SetMemoryLimit(device, 0);
}

TEST_CASE(
    "a handler that says true for ever, one that throws, and one that takes an operand, end in an error") {
  sim::Reset({.memory = 64});
  SimDevice device(0);
  SyncedMemory memory(4096, device);
  std::memset(memory.overwrite_cpu_data(), 2, 4096);
  {
    int asked = 0;
    const WithHandler says_true([&](Device&, std::size_t) { return ++asked < 5000; });
    CHECK_THROWS_AS(memory.gpu_data(), OutOfMemory);
    CHECK(asked == 1000);
  }
  {
    const WithHandler throws([](Device&, std::size_t) -> bool { throw std::runtime_error("mine"); });
    CHECK_THROWS_MATCHES(memory.gpu_data(), std::runtime_error, Message("mine"));
  }
  {
    const WithHandler takes([&](Device&, std::size_t) {
      memory.Release(Side::kCpu);
      return true;
    });
    CHECK_THROWS_MATCHES(
        memory.gpu_data(), std::logic_error,
        Message("SyncedMemory::Release: a memory is an operand of a call that is under way"));
  }
  CHECK(memory.head() == SyncedMemory::HEAD_AT_CPU);
  CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 2);
}

/// Has no memory of its own until there is room.
class Full final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    if (kind == MemoryKind::kDevice && !room) throw OutOfMemory("full", bytes);
    return next().Allocate(kind, bytes, on);
  }
  void Trim() override {
    ++trimmed;
    trims();
    next().Trim();
  }
  bool room = false;
  int trimmed = 0;
  std::function<void()> trims = [this] { room = trimmed == 2; };
};

/// A memory that has nothing yet, on such a device.
struct OnFull {
  int reset = (sim::Reset(), 0);
  Full device{std::make_unique<SimDevice>(0)};
  SyncedMemory memory{kBytes, device};
  int asked = 0;
};

TEST_CASE_METHOD(OnFull, "after each time that the handler says true the device gives back what it keeps") {
  const WithHandler says_true([&](Device&, std::size_t) { return ++asked < 5000; });
  CHECK(memory.gpu_data() != nullptr);
  CHECK(asked == 2);
  CHECK(device.trimmed == 2);
}

TEST_CASE_METHOD(OnFull, "a handler that says false is asked once") {
  const WithHandler says_false([&](Device&, std::size_t) { return ++asked > 1; });
  CHECK_THROWS_AS(memory.gpu_data(), OutOfMemory);
  CHECK(asked == 1);
  CHECK(device.trimmed == 0);
}

TEST_CASE_METHOD(OnFull,
                 "a handler may put another one in its place, and look at the operand that it is asked for") {
  const WithHandler replaces([&](Device&, std::size_t) {
    CHECK(memory.head() == SyncedMemory::UNINITIALIZED);
    SetOutOfMemoryHandler([this](Device&, std::size_t) { return ++asked < 5000; });
    return true;
  });
  CHECK(memory.gpu_data() != nullptr);
  CHECK(asked == 1);
}

TEST_CASE("a handler cannot release the source of an Assign") {
  for (const bool part : {false, true}) {
    CAPTURE(part);
    sim::Reset({.memory = 8192});
    SimDevice device(0);
    const Stream main = Stream::Main(device);
    SyncedMemory filler(4096, device), source(4096, device, "source"), target(4096, device);
    Fill(filler, main, 3), Fill(source, main, 7);
    int refused = 0;
    const WithHandler evicts([&](Device&, std::size_t) {
      try {
        source.Release(Side::kGpu);
      } catch (const std::logic_error&) {
        ++refused;
      }
      filler.Release(Side::kGpu);
      return true;
    });
    part ? target.Assign({0, 2048}, source, 0) : target.Assign(source, 4096);
    CHECK(refused == 1);
    CHECK(*static_cast<const unsigned char*>(target.cpu_data()) == 7);
    source.Release(Side::kGpu);  // nobody keeps it now
    CheckNoMisuse();
  }
}

TEST_CASE_METHOD(OnFull, "after the handler pools trim with no lock held") {
  device.trims = [&] {
    std::thread([&] { CHECK(memory.head() == SyncedMemory::HEAD_AT_CPU); }).join();
    device.room = true;
  };
  std::memset(memory.overwrite_cpu_data(), 2, kBytes);
  const WithHandler retries([](Device&, std::size_t) { return true; });
  CHECK(Sees(memory, Stream::Main(device)) == 2);
  CHECK(device.trimmed == 1);
}

TEST_CASE_METHOD(OnFull,
                 "a pool that cannot trim under graph capture fails no access that the handler has helped") {
  device.trims = [] { throw StreamCaptureError("sim Trim", 900, "the stream is under graph capture"); };
  std::memset(memory.overwrite_cpu_data(), 2, kBytes);
  const WithHandler makes_room([&](Device&, std::size_t) { return device.room = true; });
  CHECK(Sees(memory, Stream::Main(device)) == 2);
  CHECK(device.trimmed == 1);
}

}  // namespace
}  // namespace ferry::testing
