// SPDX-License-Identifier: BSD-2-Clause
// What only a simulated GPU shows: work that is late, memory that runs out, a kernel that fails, capture.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/sim.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

constexpr std::size_t kSimBytes = 16;

/// A machine, its device, and at the end no complaint.
class Machine {
 public:
  explicit Machine(const sim::Options& options) {
    sim::Reset(options);
    device_ = MakeDevice("sim");
    side.emplace(*device_);
  }
  ~Machine() {
    side.reset();
    device_.reset();
    sim::Drain();
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.empty());
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  Device& device() { return *device_; }

 private:
  std::unique_ptr<Device> device_;

 public:
  std::optional<Stream> side;
};

void Launch(const Stream& on, void* ptr, int value) {
  sim::Launch(on, {ptr}, [ptr, value] { std::memset(ptr, value, kSimBytes); });
}

TEST_CASE("an access that fails names its memory, if it has a label") {
  Machine machine({.memory = 1024});
  const Stream& on = *machine.side;
  SyncedMemory x(kSimBytes, machine.device(), "x"), y(kSimBytes, machine.device(), "y"),
      large(4096, machine.device(), "large");
  std::memset(x.overwrite_cpu_data(), 7, kSimBytes);
  y.overwrite_gpu_data(on);
  CHECK_THROWS_MATCHES(large.gpu_data(on), OutOfMemory,
                       MessageMatches(StartsWith(
                           "sim:0: cannot allocate 4096 bytes, in an access of \"large\"; the largest of ")));
  sim::BeginCapture(on, sim::CaptureMode::kRelaxed);
  const auto refused = [](const std::string& call, const std::string& label) {
    return Message("sim " + call + ": the stream is under graph capture, on sim:0 (900), in an access of \"" +
                   label + '"');
  };
  CHECK_THROWS_MATCHES(x.gpu_data(on), StreamCaptureError, refused("MallocAsync", "x"));
  CHECK_THROWS_MATCHES(y.Release(Side::kGpu), StreamCaptureError, refused("EventRecord", "y"));
  sim::EndCapture(on);
}

TEST_CASE("under graph capture an access is an error, and good again afterwards") {
  Machine machine({});
  SyncedMemory memory(kSimBytes, machine.device());
  std::memset(memory.overwrite_cpu_data(), 7, kSimBytes);
  sim::BeginCapture(*machine.side);
  CHECK_THROWS_AS(memory.gpu_data(*machine.side), DeviceError);
  CHECK_THROWS_AS(memory.Prefetch(Side::kGpu, *machine.side), DeviceError);
  CHECK(memory.head() == SyncedMemory::HEAD_AT_CPU);
  CHECK_NOTHROW(memory.gpu_data());
  sim::EndCapture(*machine.side);
  CHECK_NOTHROW(memory.gpu_data(*machine.side));
}

TEST_CASE("a wait for a stream under capture is an error that takes nothing away") {
  Machine machine({});
  SyncedMemory memory(kSimBytes, machine.device());
  Launch(*machine.side, memory.overwrite_gpu_data(*machine.side), 7);
  sim::BeginCapture(*machine.side);
  CHECK_THROWS_AS(memory.cpu_data(), DeviceError);
  CHECK_THROWS_AS(memory.gpu_data(), DeviceError);
  CHECK_THROWS_AS(memory.overwrite_gpu_data(), DeviceError);
  CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);
  sim::EndCapture(*machine.side);
  CHECK(static_cast<const char*>(memory.cpu_data())[3] == 7);
}

TEST_CASE("all devices are one side of the head, whichever of them has which bytes") {
  Machine machine({.devices = 2});
  const auto second = MakeDevice("sim:1");
  SyncedMemory memory(kSimBytes, machine.device());
  constexpr ByteRange kFront{0, kSimBytes / 2}, kBack{kSimBytes / 2, kSimBytes / 2};
  memory.overwrite_gpu_data(kFront, Stream::Main(machine.device()));
  memory.overwrite_gpu_data(kBack, Stream::Main(*second));
  CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);
  memory.cpu_data(kFront);
  CHECK(memory.head(kFront) == SyncedMemory::SYNCED);
  CHECK(memory.head() == SyncedMemory::HEAD_AT_GPU);  // the host lacks a half
  memory.cpu_data();
  CHECK(memory.head() == SyncedMemory::SYNCED);
  memory.mutable_cpu_data(kBack);
  CHECK(memory.head() == SyncedMemory::HEAD_AT_CPU);  // the devices lack a half
}

TEST_CASE("where the uses of one device's bytes cannot end, set_gpu_data leaves those of every device") {
  Machine machine({.order = sim::Order::kLate, .devices = 2});
  const auto second = MakeDevice("sim:1");
  SyncedMemory given(kSimBytes, *second), other(kSimBytes, machine.device());
  const Stream user(*second), reader(machine.device());
  void* const bytes = given.overwrite_gpu_data();
  Launch(Stream::Main(*second), bytes, 7);
  SyncedMemory memory(kSimBytes, machine.device());
  memory.set_const_gpu_data(bytes, Stream::Main(*second));
  memory.gpu_data(*machine.side);  // a copy from device to device, which is late
  memory.gpu_data(user);
  sim::BeginCapture(user);
  CHECK_THROWS_AS(memory.set_gpu_data(other.overwrite_gpu_data()), StreamCaptureError);
  const void* const read = memory.gpu_data(reader);
  char seen = 0;
  sim::Launch(reader, {read}, [&] { seen = *static_cast<const char*>(read); });
  reader.Synchronize();
  CHECK(seen == 7);
  sim::EndCapture(user);
}

TEST_CASE("memory that runs out on either side is an OutOfMemory that changes nothing, and a retry works") {
  Machine machine({.memory = 4096, .pinned_memory = 4096});
  const auto out_of_memory = [](const std::string& of, const auto& access) {
    CHECK_THROWS_MATCHES(access(), OutOfMemory,
                         MessageMatches(StartsWith(of + ": cannot allocate 4096 bytes; the largest of ")));
  };
  const std::string gpu = "sim:0", host = "host memory pinned for sim:0";
  const bool on_gpu = GENERATE(false, true);
  SyncedMemory fresh(4096, machine.device()), full(4096, machine.device());
  {
    SyncedMemory other(4096, machine.device());
    if (on_gpu) {
      Launch(Stream::Main(machine.device()), full.overwrite_gpu_data(), 7);
      other.overwrite_cpu_data();
    } else {
      std::memset(full.overwrite_cpu_data(), 7, kSimBytes);
      other.overwrite_gpu_data();
    }
    const Head head = full.head();
    out_of_memory(host, [&] { fresh.cpu_data(); });
    out_of_memory(gpu, [&] { fresh.gpu_data(); });
    out_of_memory(gpu, [&] { fresh.overwrite_gpu_data(); });
    out_of_memory(on_gpu ? host : gpu, [&] { on_gpu ? full.mutable_cpu_data() : full.mutable_gpu_data(); });
    out_of_memory(on_gpu ? host : gpu,
                  [&] { full.Prefetch(on_gpu ? Side::kCpu : Side::kGpu, *machine.side); });
    CHECK(fresh.head() == SyncedMemory::UNINITIALIZED);
    CHECK(full.head() == head);
  }
  CHECK(static_cast<const char*>(on_gpu ? full.mutable_cpu_data() : full.cpu_data())[3] == 7);
  CHECK_NOTHROW(full.gpu_data());
}

TEST_CASE("a kernel that fails is an error of a later access, and the memory can still be given back") {
  Machine machine({});
  SyncedMemory memory(kSimBytes, machine.device());
  void* const ptr = memory.overwrite_gpu_data();
  sim::Launch(Stream::Main(machine.device()), {ptr}, [] { throw std::runtime_error("a bad kernel"); });
  CHECK_THROWS_AS(memory.cpu_data(), DeviceError);
  CHECK(sim::Inspect().kernel_errors.size() == 1);
}

TEST_CASE("the caller's pinned bytes have been read when gpu_data returns") {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Machine machine({.seed = seed});
    void* const mine = machine.device().Allocate(MemoryKind::kPinnedHost, kSimBytes, {});
    {
      SyncedMemory memory(kSimBytes, machine.device());
      std::memset(mine, 7, kSimBytes);
      memory.set_cpu_data(mine);
      const void* const ptr = memory.gpu_data(*machine.side);
      std::memset(mine, 77, kSimBytes);
      sim::Launch(*machine.side, {ptr}, [ptr] {
        if (static_cast<const char*>(ptr)[3] != 7) throw std::runtime_error("not what was given");
      });
    }
    machine.device().Deallocate(MemoryKind::kPinnedHost, mine, kSimBytes, {});
    sim::Drain();
    CHECK(sim::Inspect().kernel_errors.empty());
  }
}

TEST_CASE("what waits for a copy does not wait for the kernel queued behind it") {
  int alone = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Machine machine({.seed = seed});
    SyncedMemory memory(kSimBytes, machine.device());
    std::memset(memory.overwrite_cpu_data(), 7, kSimBytes);
    bool ran = false;
    const void* const ptr = memory.gpu_data();
    sim::Launch(Stream::Main(machine.device()), {ptr}, [&ran] { ran = true; });
    (void)memory.gpu_data(*machine.side);
    machine.side->Synchronize();
    memory.overwrite_cpu_data();
    alone += !ran;
    sim::Drain();
  }
  CHECK(alone > 0);  // sim runs more than is needed under some seeds
}

/// A device whose streams take their time to end: until another thread has had a turn at the memory.
class SlowToEnd final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::function<void()> meanwhile, in_order;
  int ended = 0;
  void Order(std::span<const StreamHandle> before, StreamHandle then) override {
    if (in_order) in_order();
    next().Order(before, then);
  }
  void DestroyStream(StreamHandle stream) noexcept override {
    ++ended;
    if (meanwhile) std::thread(meanwhile).join();
    next().DestroyStream(stream);
  }
};

TEST_CASE("a stream that ends with its last use holds up no other thread's access") {
  sim::Reset();
  SlowToEnd device(MakeDevice("sim"));
  const Stream writer(device), other(device);
  SyncedMemory memory(kSimBytes, device);
  memory.overwrite_gpu_data(writer);
  device.meanwhile = [&] { memory.gpu_data(other); };
  memory.gpu_data(Stream(device));  // which ends right after its last use
  CHECK(device.ended == 1);
  std::optional<Stream> captured(device);
  memory.gpu_data(*captured);
  sim::BeginCapture(*captured);
  const Stream left = Stream::Borrow(device, captured->handle());
  captured.reset();  // while nobody may make a point there
  CHECK(device.ended == 1);
  sim::EndCapture(left);
  memory.mutable_gpu_data(writer);  // the last that waits for it
  CHECK(device.ended == 2);
  std::optional<Stream> waited_for(device);
  memory.overwrite_gpu_data(*waited_for);
  device.in_order = [&] { waited_for.reset(); };
  memory.gpu_data(other);  // has the last reference now
  device.in_order = nullptr;
  CHECK(device.ended == 3);
  device.meanwhile = nullptr;
}

TEST_CASE("the memory of a simulated device dies before its work runs") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Machine machine({.seed = seed, .unified = seed % 2 == 1});
    SyncedMemory memory(kSimBytes, machine.device());
    Launch(*machine.side, memory.overwrite_gpu_data(*machine.side), 7);
    (void)memory.gpu_data();
    memory.Prefetch(Side::kCpu, *machine.side);
  }
}

}  // namespace
}  // namespace ferry::testing
