// SPDX-License-Identifier: BSD-2-Clause
// What a GPU that is not used must not notice, and what runtimes do that their manuals do not dwell on.
#include <memory>
#include <thread>
#include <vector>

#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "ferry/transfer_guard.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

TEST_CASE("a program that uses the second GPU alone makes one context, in each of its threads") {
  sim::Reset({.devices = 2});
  {
    SimDevice device{1};
    SyncedMemory memory(kBytes, device);
    memory.mutable_cpu_data();
    memory.mutable_gpu_data();
    memory.cpu_data();
    const Stream stream(device);
    const Event point(stream);
    std::thread([&] { point.HostWait(); }).join();
    std::thread([&] { memory.mutable_gpu_data(stream); }).join();
    std::thread([&] { const Stream brief = stream; }).join();
  }
  CHECK(sim::Inspect().contexts == 1);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("a copy of given bytes that is refused makes no context") {
  sim::Reset({.devices = 2});
  {
    SimDevice device{1};
    std::vector<std::byte> given(kBytes);
    SyncedMemory memory(kBytes, device);
    memory.set_cpu_data(given.data());
    const TransferGuard guard(TransferPolicy::kThrow);
    CHECK_THROWS_AS(memory.gpu_data(), TransferRefused);
    CHECK(sim::Inspect().contexts == 0);
  }
}

TEST_CASE("memory is not called pageable where the runtime does not say so") {
  const SimWorld world({.fail_at = 2, .fail_call = "PointerGetAttributes"});
  const std::byte pageable{};
  CHECK(world.device.Pageable(&pageable));
  CHECK_FALSE(world.device.Pageable(&pageable));
  CHECK(world.device.Pageable(&pageable));
}

TEST_CASE("a GPU that the program itself uses is current again after each call") {
  sim::Reset({.devices = 2});
  REQUIRE(SimRuntime::SetDevice(0) == SimRuntime::kSuccess);
  const SimDevice device{1};
  int current = -1;
  REQUIRE(SimRuntime::GetDevice(&current) == SimRuntime::kSuccess);
  CHECK(current == 0);
}

TEST_CASE("pinned and managed memory that is refused as a wrong value is out of memory") {
  SimWorld world({.memory = 1024, .pinned_memory = 1024, .refuses_as_invalid = true});
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
    CHECK_THROWS_AS(world.device.Allocate(kind, 2048, world.main.handle()), OutOfMemory);
  CHECK(SimRuntime::GetLastError() == SimRuntime::kSuccess);
}

TEST_CASE("a stream is destroyed after the last point in it, for hosts that wait by way of the stream") {
  sim::Reset({.events_need_stream = true});
  {
    SimDevice device{0};
    std::unique_ptr<Event> point;
    {
      const Stream brief(device);
      point = std::make_unique<Event>(brief);
      const Event other(brief);
    }
    point->HostWait();
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.size() == 3);  // two events, one of them to be used again, and the stream
    point.reset();
    CHECK(sim::Inspect().leaks.size() == 2);
  }
  CHECK(sim::Inspect().leaks.empty());
}

TEST_CASE("a point in a stream that was borrowed holds no stream, though the handle comes again as our own") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    sim::Reset({.seed = seed});
    {
      SimDevice device{0};
      SimRuntime::Stream native{};
      REQUIRE(SimRuntime::StreamCreate(&native) == SimRuntime::kSuccess);
      const StreamHandle handle{reinterpret_cast<std::uintptr_t>(native)};
      auto point = std::make_unique<Event>(Stream::Borrow(device, handle));
      REQUIRE(SimRuntime::StreamDestroy(native) == SimRuntime::kSuccess);
      const Stream own(device);
      point.reset();
      const Event other(own);
    }
    CHECK(sim::Inspect().leaks.empty());
    CHECK(sim::Inspect().misuse.empty());
  }
}

TEST_CASE("events are used again") {
  SimWorld world;
  for (int i = 0; i < 10; ++i) const Event point(world.side);
  const long before = sim::Inspect().runtime_calls;
  { const Event point(world.side); }
  CHECK(sim::Inspect().runtime_calls - before == 3);  // GetDevice, StreamIsCapturing, EventRecord
}

}  // namespace
}  // namespace ferry::testing
