// SPDX-License-Identifier: BSD-2-Clause
// Blocks and streams whose end meets another thread, or a capture.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/forwarding_device.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using enum MemoryKind;

/// Calls `before_order` or `before_record` once, right before the call reaches the device.
class Pause final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::function<void()> before_order, before_record;
  EventHandle Record(StreamHandle on) override {
    if (auto call = std::exchange(before_record, {})) call();
    return next().Record(on);
  }
  void Order(std::span<const StreamHandle> before, StreamHandle then) override {
    if (auto call = std::exchange(before_order, {})) call();
    next().Order(before, then);
  }
};

/// A pool whose device pauses. In the end nothing was misused, and nothing is left.
struct PausedPool {
  PausedPool() {
    sim::Reset({});
    auto owner = std::make_unique<Pause>(std::make_unique<SimDevice>(0));
    pause = owner.get();
    pool.emplace(std::move(owner));
  }
  ~PausedPool() {
    pool.reset();
    sim::Drain();
    const auto report = sim::Inspect();
    CHECK(report.misuse == std::vector<std::string>{});
    CHECK(report.leaks == std::vector<std::string>{});
  }
  /// The pool has a block of the stream, which another thread destroys as soon as the pool orders by it.
  void EndWhileOrdered(StreamHandle stream) {
    void* const block = pool->Allocate(kDevice, kBytes, stream);
    pool->Deallocate(kDevice, block, kBytes, stream);
    pause->before_order = [this, stream] {
      other = std::thread([this, stream] { pool->DestroyStream(stream); });
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    };
  }

  Pause* pause;
  std::optional<PooledDevice> pool;
  std::thread other;
};

TEST_CASE_METHOD(PausedPool, "A stream may be destroyed while another thread takes its block from the pool") {
  const StreamHandle a = pool->CreateStream(), b = pool->CreateStream();
  EndWhileOrdered(a);
  void* const again = pool->Allocate(kDevice, kBytes, b);
  other.join();
  pool->Deallocate(kDevice, again, kBytes, b);
  pool->DestroyStream(b);
}

TEST_CASE_METHOD(PausedPool, "The blocks of a stream that is ending are nobody else's until it has ended") {
  const StreamHandle a = pool->CreateStream(), b = pool->CreateStream();
  void* const small = pool->Allocate(kDevice, kBytes, a);
  void* const large = pool->Allocate(kDevice, 5000, a);
  pool->Deallocate(kDevice, small, kBytes, a);
  pool->Deallocate(kDevice, large, 5000, a);
  void* taken = nullptr;
  pause->before_record = [&] { taken = pool->Allocate(kDevice, 5000, b); };
  pool->DestroyStream(a);
  CHECK(taken != nullptr);
  CHECK(taken != large);
  pool->Deallocate(kDevice, taken, 5000, b);
  pool->DestroyStream(b);
}

TEST_CASE_METHOD(PausedPool, "A stream may be destroyed while another thread trims the pool") {
  const StreamHandle a = pool->CreateStream();
  EndWhileOrdered(a);
  pool->Trim();
  other.join();
}

TEST_CASE("A block that a captured stream used goes back at the stream's end after the capture") {
  for (const bool unified : {false, true}) {
    INFO(unified);
    SimWorld world({.unified = unified});
    {
      const Stream s(world.device);
      {
        SyncedMemory memory(kBytes, world.device);
        if (!unified) {
          memory.overwrite_cpu_data();
          memory.Prefetch(Side::kGpu, s);  // the pinned side is read on s
        } else {
          memory.overwrite_gpu_data(s);
        }
        sim::BeginCapture(s);
      }
      sim::EndCapture(s);
    }
    sim::Drain();
    std::string left;
    for (const auto& leak : sim::Inspect().leaks)
      if (leak.find("bytes") != std::string::npos) left += leak + "; ";
    CHECK(left == "");
  }
}

TEST_CASE("A block that was kept for a capture goes back with the next one that is freed on the stream") {
  SimWorld world;
  std::byte* const first = world.NewDevice(world.side);
  std::byte* const second = world.NewDevice(world.side);
  sim::BeginCapture(world.side);
  world.Free(kDevice, first, world.side);
  sim::EndCapture(world.side);
  world.Free(kDevice, second, world.side);
  for (const auto& leak : sim::Inspect().leaks) CHECK(leak.find("bytes") == std::string::npos);
}

TEST_CASE("Memory of a thread's own stream under capture goes back in that thread's order") {
  SimWorld world({.order = sim::Order::kLate});
  const Stream own = Stream::Borrow(world.device, sim::kPerThreadStream);
  {
    SyncedMemory memory(kBytes, world.device);
    void* const ptr = memory.overwrite_gpu_data(own);
    sim::Launch(own, {ptr}, [=] { std::memset(ptr, 1, kBytes); });
    sim::BeginCapture(own);
  }
  std::thread([&] {
    SyncedMemory memory(kBytes, world.device);
    memory.gpu_data(own);  // another queue of the same handle
    own.Synchronize();
  }).join();
  sim::EndCapture(own);
  sim::Drain();
  CHECK(sim::Inspect().misuse == std::vector<std::string>{});
}

TEST_CASE("A thread does not wait for another's kernel to give back a kept block") {
  for (const bool memory_pools : {true, false}) {
    SimWorld world({.order = sim::Order::kLate, .memory_pools = memory_pools});
    const Stream s(world.device), t(world.device);
    std::atomic<bool> go{false}, timed_out{false};
    {
      SyncedMemory memory(kBytes, world.device), other(kBytes, world.device);
      void* const ptr = memory.overwrite_gpu_data(s);
      sim::Launch(s, {ptr}, [&go, &timed_out] {
        for (int i = 0; i < 2000 && !go; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!go) timed_out = true;
      });
      sim::BeginCapture(s);
    }
    sim::EndCapture(s);
    std::thread first([&] { Event point(s); });  // frees the kept block
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    Event point(t);  // an independent stream
    go = true;
    first.join();
    CHECK(!timed_out);
  }
}

TEST_CASE("A kept block needs no stream that was borrowed") {
  for (const bool unified : {false, true}) {
    INFO(unified);
    SimWorld world({.unified = unified, .memory_pools = false, .events_need_stream = true});
    const StreamHandle lent = sim::CreateBlockingStream(world.device);
    const Stream s(world.device);
    {
      SyncedMemory memory(kBytes, world.device);
      const Stream borrowed = Stream::Borrow(world.device, lent);
      memory.overwrite_gpu_data(unified ? s : borrowed);
      memory.gpu_data(unified ? borrowed : s);
      sim::BeginCapture(s);
    }
    world.device.DestroyStream(lent);  // no memory that was accessed on it is left
    sim::EndCapture(s);
    s.Synchronize();
    CHECK(sim::Inspect().misuse == std::vector<std::string>{});
  }
}

TEST_CASE("A read on a captured stream does not fail for a reader that is gone") {
  SimWorld world({.unified = true});  // where the host's read has waited for the write
  SyncedMemory memory(kBytes, world.device);
  memory.overwrite_gpu_data(world.side);
  memory.cpu_data();
  const Stream s(world.device);
  {
    const Stream brief(world.device);
    memory.gpu_data(brief);
  }
  sim::BeginCapture(s);
  CHECK_NOTHROW(memory.gpu_data(s));
  sim::EndCapture(s);
}

}  // namespace
}  // namespace ferry::testing
