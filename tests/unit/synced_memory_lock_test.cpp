// SPDX-License-Identifier: BSD-2-Clause
// Streams that end while a memory notes them: not under its lock, and not before their work.
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ferry/detail/dependents.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_kernels.hpp"

namespace ferry::testing {
namespace {

/// Looks whether a memory is locked when a stream is destroyed.
class Lookout final : public ForwardingDevice {
 public:
  Lookout() : ForwardingDevice(std::make_unique<SimDevice>(0)) {}
  EventHandle Record(StreamHandle on) override {
    const EventHandle point = next().Record(on);
    if (const auto now = std::exchange(on_record, nullptr)) now();
    return point;
  }
  void DestroyStream(StreamHandle stream) noexcept override {
    if (const SyncedMemory* const memory = watched) {
      using namespace std::chrono_literals;
      ++destroyed;
      looks_.push_back(std::async(std::launch::async, [memory] { static_cast<void>(memory->head()); }));
      locked |= looks_.back().wait_for(20s) != std::future_status::ready;
    }
    next().DestroyStream(stream);
  }

  std::function<void()> on_record;  ///< once
  const SyncedMemory* watched = nullptr;
  int destroyed = 0;  ///< of streams, while a memory is watched
  bool locked = false;

 private:
  std::vector<std::future<void>> looks_;  // which end when the memory is not locked any more
};

TEST_CASE("a stream whose last user goes while it is waited for ends when the memory is not locked") {
  for (const bool unified : {false, true})
    for (const bool host : {false, true}) {
      CAPTURE(unified, host);
      sim::Reset({.unified = unified});
      Lookout device;
      const Stream other(device);
      SyncedMemory memory(kBytes, device);
      std::optional<Stream> brief(std::in_place, device);
      Fill(memory, *brief, 7);
      device.watched = &memory;
      device.on_record = [&] { brief.reset(); };
      host ? memory.cpu_data() : memory.gpu_data(other);
      CHECK(device.destroyed == 1);
      CHECK_FALSE(device.locked);
      CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 7);
      device.watched = nullptr;
    }
}

TEST_CASE("a stream that ended under capture is waited for, and destroyed when the memory is not locked") {
  for (const bool many : {false, true}) {
    CAPTURE(many);
    sim::Reset({.order = sim::Order::kLate});
    Lookout device;
    const Stream writer(device), next(device);
    SyncedMemory memory(kBytes, device);
    Fill(memory, writer, 7);
    std::optional<Stream> brief(std::in_place, device);
    const StreamHandle handle = brief->handle();
    int seen = -1;
    See(*brief, memory.gpu_data(*brief), seen);
    sim::BeginCapture(*brief);
    brief.reset();
    CHECK(detail::Dependents::AliveOn("sim") == "1 memory, 3 streams");
    for (int i = 0; many && i < 40; ++i) {  // more than are kept without a look at which are over
      const Stream reader(device);
      sim::Launch(reader, {memory.gpu_data(reader)}, [] {});
    }
    sim::EndCapture(Stream::Borrow(device, handle));
    device.watched = &memory;
    Fill(memory, next, 9);
    CHECK(device.destroyed == 1);
    CHECK_FALSE(device.locked);
    next.Synchronize();
    CHECK(seen == 7);
    CheckNoMisuse();
    device.watched = nullptr;
  }
}

/// Makes no points and does not wait while its driver fails: at once, or after so many calls.
class Failing final : public ForwardingDevice {
 public:
  Failing() : ForwardingDevice(std::make_unique<SimDevice>(0)) {}
  EventHandle Record(StreamHandle on) override {
    Require();
    return next().Record(on);
  }
  void Synchronize(StreamHandle stream) override {
    Require();
    next().Synchronize(stream);
  }

  bool fails = false;
  int before = 0;

 private:
  void Require() {
    if (fails && before-- <= 0) throw DeviceError("Failing", 1, "the driver fails");
  }
};

TEST_CASE(
    "a stream that ends while its driver fails is waited for by who needs its work, or is told of that") {
  for (const bool unified : {false, true})
    for (const bool host : {false, true}) {
      CAPTURE(unified, host);
      sim::Reset({.order = sim::Order::kLate, .unified = unified});
      {
        Failing device;
        const Stream other(device);
        SyncedMemory memory(kBytes, device);
        Fill(memory, Stream(device), 7);  // whose point is made
        std::optional<Stream> brief(std::in_place, device);
        Fill(memory, *brief, 8);
        device.fails = true;
        brief.reset();
        for (int i = 0; i < 2; ++i)
          CHECK_THROWS_AS(host ? memory.cpu_data() : memory.gpu_data(other), DeviceError);
        device.fails = false;
        CHECK(static_cast<const unsigned char*>(memory.cpu_data())[kBytes - 1] == 8);
      }
      CHECK(sim::Inspect().misuse.empty());
      CHECK(sim::Inspect().leaks.empty());
    }
}

TEST_CASE("a memory may end when the driver of its stream, which went before, has failed") {
  sim::Reset({.order = sim::Order::kLate});
  {
    Failing device;
    std::optional<SyncedMemory> memory(std::in_place, kBytes, device);
    {
      const Stream brief(device);
      Fill(*memory, brief, 7);
      device.fails = true;
    }
    memory.reset();
    device.fails = false;
    sim::Drain();  // the work, which the block must not be gone for
  }
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("a borrowed stream that could not be forgotten still counts, and can be forgotten then") {
  for (const bool again : {false, true}) {
    sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
    {
      Failing device;
      const StreamHandle handle = sim::CreateBlockingStream(device);
      const Stream lent = Stream::Borrow(device, handle);
      std::optional<SyncedMemory> memory(std::in_place, kBytes, device);
      Fill(*memory, lent, 7);
      device.fails = true;
      CHECK_THROWS_AS(memory->Forget(lent), DeviceError);
      device.fails = false;
      if (again) memory->Forget(lent), device.DestroyStream(handle);
      CHECK(static_cast<const unsigned char*>(memory->cpu_data())[kBytes - 1] == 7);
      memory.reset();
      if (!again) device.DestroyStream(handle);
    }
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.empty());
  }
}

TEST_CASE("a borrowed stream is forgotten for all copies of the bytes, or for none") {
  sim::Reset({.order = sim::Order::kLate, .devices = 2});
  Failing device;
  SimDevice second(1);
  {
    SyncedMemory memory(kBytes, device);
    Fill(memory, Stream::Main(second), 5);
    const StreamHandle handle = device.CreateStream();
    const Stream lent = Stream::Borrow(device, handle);
    void* const ptr = memory.mutable_gpu_data(lent);  // both devices have notes of it
    Set(lent, ptr, 7, kBytes);
    device.fails = true;
    device.before = 1;
    CHECK_THROWS_AS(memory.Forget(lent), DeviceError);
    device.fails = false;
    Set(lent, ptr, 9, kBytes);
    memory.Forget(lent);
    device.DestroyStream(handle);
    CHECK(static_cast<const unsigned char*>(memory.cpu_data())[kBytes - 1] == 9);
  }
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("two borrowed streams that are forgotten are two") {
  sim::Reset({.order = sim::Order::kLate});
  SimDevice device(0);
  {
    SyncedMemory memory(2 * kBytes, device);
    for (const std::size_t half : {std::size_t{0}, std::size_t{1}}) {
      const StreamHandle handle = sim::CreateBlockingStream(device);
      const Stream lent = Stream::Borrow(device, handle);
      auto* const ptr = static_cast<char*>(memory.overwrite_gpu_data({half * kBytes, kBytes}, lent));
      sim::Launch(lent, {Touch(ptr, kBytes)}, [=] { std::memset(ptr, 7 + static_cast<int>(half), kBytes); });
      memory.Forget(lent);
      device.DestroyStream(handle);
    }
    const auto* const bytes = static_cast<const unsigned char*>(memory.cpu_data());
    CHECK(bytes[0] == 7);
    CHECK(bytes[2 * kBytes - 1] == 8);
  }
  CHECK(sim::Inspect().misuse.empty());
}

}  // namespace
}  // namespace ferry::testing
