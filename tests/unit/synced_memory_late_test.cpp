// SPDX-License-Identifier: BSD-2-Clause
// Waits that only a machine shows whose work is as late as allowed.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ferry/checked_device.hpp"
#include "ferry/detail/take.hpp"
#include "ferry/error.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_kernels.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kPage = 4096;

TEST_CASE("a stream that the host has waited for is noted anew, though the call then failed") {
  sim::Reset({.order = sim::Order::kLate, .unified = true, .fail_at = 2, .fail_call = "MallocManaged"});
  SimDevice device(0);
  {
    const Stream on(device);
    struct {
      SyncedMemory first, second;  // in the order of their addresses
    } memories{SyncedMemory(kPage, device), SyncedMemory(kPage, device)};
    Fill(memories.first, on, 1);
    const detail::Request requests[] = {{&memories.first, {}, Access::kReadWrite},
                                        {&memories.second, {}, Access::kOverwrite}};
    void* ptrs[2];
    CHECK_THROWS_AS(detail::Take(requests, nullptr, ptrs), std::bad_alloc);
    int seen = -1;
    See(on, memories.first.gpu_data(on), seen);
    std::memset(memories.first.mutable_cpu_data(), 9, kPage);
    on.Synchronize();
    CHECK(seen == 1);
  }
  CheckNoMisuse();
}

TEST_CASE("a stream is noted anew after bytes could not be adopted, since another stream is under capture") {
  sim::Reset({.order = sim::Order::kLate, .devices = 2});
  SimDevice a(0), b(1);
  const Stream on_a(a), on_b(b), main_a = Stream::Main(a), main_b = Stream::Main(b);
  void* const lent = b.Allocate(MemoryKind::kDevice, kPage, main_b.handle());
  void* const other = a.Allocate(MemoryKind::kDevice, kPage, main_a.handle());
  int before = -1, after = -1;
  {
    Set(main_b, lent, 5, kPage);
    SyncedMemory memory(kPage, a);
    memory.set_const_gpu_data(lent, main_b);
    See(on_a, memory.gpu_data(on_a), before);
    (void)memory.gpu_data(on_b);
    sim::BeginCapture(on_b, sim::CaptureMode::kRelaxed);
    CHECK_THROWS_AS(memory.set_gpu_data(other), StreamCaptureError);
    sim::EndCapture(on_b);
    See(on_a, memory.gpu_data(on_a), after);
    memory.Release(Side::kGpu);
  }
  main_a.Synchronize(), main_b.Synchronize(), on_a.Synchronize();
  CHECK(before == 5);
  CHECK(after == 5);
  a.Deallocate(MemoryKind::kDevice, other, kPage, main_a.handle());
  b.Deallocate(MemoryKind::kDevice, lent, kPage, main_b.handle());
  CheckNoMisuse();
}

TEST_CASE(
    "a memory dies after a stream of its was dropped under capture, and what was queued there before runs") {
  const bool ends = GENERATE(false, true), reads = GENERATE(false, true), unified = GENERATE(false, true),
             pooled = GENERATE(false, true);
  CAPTURE(ends, reads, unified, pooled);
  sim::Reset({.order = sim::Order::kLate, .unified = unified});
  int seen = -1;
  {
    std::unique_ptr<Device> device = std::make_unique<SimDevice>(0);
    if (pooled) device = std::make_unique<PooledDevice>(std::move(device));
    device = std::make_unique<CheckedDevice>(std::move(device));
    const Stream other(*device);
    auto memory = std::make_unique<SyncedMemory>(kPage, *device);
    auto dropped = std::make_unique<Stream>(*device);
    Fill(*memory, reads ? other : *dropped, 1);
    See(*dropped, memory->gpu_data(*dropped), seen);
    const StreamHandle handle = dropped->handle();
    sim::BeginCapture(*dropped);
    dropped.reset();
    if (ends) sim::EndCapture(Stream::Borrow(*device, handle));
    memory.reset();
    SyncedMemory next(kPage, *device);
    Fill(next, other, 9);
    other.Synchronize();
  }
  sim::Drain();
  CHECK(seen == 1);
  CheckNoMisuse();
}

TEST_CASE("the caller's bytes have been read when an access returns, though a copy to others is under way") {
  sim::Reset({.order = sim::Order::kLate, .pageable_late = true});
  SimDevice device(0);
  std::vector<unsigned char> mine(2 * kPage, 4);
  {
    const Stream on(device);
    SyncedMemory memory(mine.size(), device);
    memory.set_cpu_data(mine.data());
    const ByteRange front{0, kPage};
    Set(on, memory.overwrite_gpu_data(front, on), 1, kPage);
    memory.Prefetch(Side::kCpu, on, front);
    const auto* const ptr = static_cast<const unsigned char*>(memory.gpu_data(on));
    mine.back() = 99;
    int seen = -1;
    sim::Launch(on, {ptr}, [=, &seen] { seen = ptr[2 * kPage - 1]; });
    on.Synchronize();
    CHECK(seen == 4);
  }
  CheckNoMisuse();
}

TEST_CASE("the caller's bytes have been read when an access on another device than the unified one returns") {
  const bool ahead = GENERATE(false, true), without_event = GENERATE(false, true);
  CAPTURE(ahead, without_event);
  sim::Reset({.order = sim::Order::kLate,
              .devices = 2,
              .unified_devices = 1,
              .pageable_late = true,
              .fail_at = without_event ? 1 : 0,
              .fail_call = "EventRecord"});
  SimDevice device(0), unified(1);
  std::vector<unsigned char> mine(kPage, 4);
  {
    const Stream on(device);
    SyncedMemory memory(kPage, unified);
    memory.set_cpu_data(mine.data());
    if (ahead) memory.Prefetch(Side::kGpu, on);
    const void* const ptr = memory.gpu_data(on);
    mine.front() = 99;
    int seen = -1;
    See(on, ptr, seen);
    on.Synchronize();
    CHECK(seen == 4);
  }
  CheckNoMisuse();
}

TEST_CASE("the host waits for a unified device's kernels, though another device has read meanwhile") {
  const bool between = GENERATE(false, true);
  sim::Reset({.order = sim::Order::kLate, .devices = 2, .unified_devices = 1});
  SimDevice device(0), unified(1);
  std::vector<unsigned char> mine(kPage, 1);
  {
    const Stream on(device), near(unified);
    SyncedMemory memory(kPage, device);
    memory.set_cpu_data(mine.data());
    const void* const ptr = memory.gpu_data(near);
    CHECK(ptr == mine.data());
    if (between) memory.gpu_data(on);
    int seen = -1;
    See(near, ptr, seen);
    std::memset(memory.mutable_cpu_data(), 9, kPage);
    near.Synchronize();
    CHECK(seen == 1);
  }
  CheckNoMisuse();
}

TEST_CASE("Assign on a unified device reaches what another device has pinned") {
  sim::Reset({.devices = 2, .unified_devices = 1});
  CheckedDevice device(std::make_unique<SimDevice>(0)), unified(std::make_unique<SimDevice>(1));
  {
    SyncedMemory source(kPage, device), target(kPage, device);
    const Stream on(unified);
    std::memset(source.overwrite_cpu_data(), 3, kPage);
    target.Assign(ByteRange{}, source, 0, &on);
    CHECK(Sees(target, on) == 3);
    CHECK(*static_cast<const unsigned char*>(target.cpu_data()) == 3);
  }
  CHECK(device.misuse_count() + unified.misuse_count() == 0);
  CheckNoMisuse();
}

TEST_CASE("the host copies where Assign on a unified device concerns memory of the host device") {
  const bool late = GENERATE(false, true), to_host = GENERATE(false, true);
  CAPTURE(late, to_host);
  sim::Reset({.order = sim::Order::kLate, .unified = true, .pageable_late = late});
  SimDevice unified(0);
  Device& host = GetDevice("host");
  {
    SyncedMemory source(kPage, to_host ? unified : host), target(kPage, to_host ? host : unified);
    const Stream on(unified);
    Fill(target, on, 3), Fill(source, on, 7);
    target.Assign(ByteRange{}, source, 0, &on);
    CHECK(sim::Inspect().copies == 0);  // a driver may copy pageable bytes before they are written
    CHECK(Sees(target, on) == 7);
    CHECK(*static_cast<const unsigned char*>(target.cpu_data()) == 7);
  }
  CheckNoMisuse();
}

TEST_CASE("parts that came to coarse-grained memory are seen, however many there are") {
  sim::Reset({.order = sim::Order::kLate, .coarse_host_memory = true});
  SimDevice device(0);
  {
    constexpr std::size_t kPart = 256, kParts = 40;
    const Stream a(device), b(device);
    SyncedMemory memory(kParts * kPart, device);
    std::memset(memory.overwrite_cpu_data(), 1, memory.size());
    Set(a, memory.mutable_gpu_data(a), 6, memory.size());
    a.Synchronize();
    for (std::size_t i = 0; i < kParts; ++i)
      memory.Prefetch(Side::kCpu, i % 2 == 0 ? a : b, {i * kPart, kPart});
    for (std::size_t i = 0; i < kParts; ++i)
      CHECK(*static_cast<const unsigned char*>(memory.cpu_data({i * kPart, kPart})) == 6);
  }
  CheckNoMisuse();
}

TEST_CASE("the host's wait for a memory fails, and another thread reads it then") {
  sim::Reset({.order = sim::Order::kLate, .fail_at = 1, .fail_call = "EventSynchronize"});
  SimDevice device(0);
  {
    SyncedMemory memory(kPage, device);
    Fill(memory, Stream::Main(device), 5);
    CHECK_THROWS_AS(memory.cpu_data(), DeviceError);
    int seen = -1;
    std::thread([&] { seen = *static_cast<const unsigned char*>(memory.cpu_data()); }).join();
    CHECK(seen == 5);
  }
  CheckNoMisuse();
}

TEST_CASE("a borrowed stream may go once the memory has been told") {
  const bool events_need_stream = GENERATE(false, true), writes = GENERATE(false, true);
  const int where = GENERATE(0, 1, 2);  // the memory's own device, another one, a unified one
  const std::string next = GENERATE("host reads", "host writes", "device reads", "memory ends");
  CAPTURE(events_need_stream, writes, where, next);
  sim::Reset({.order = sim::Order::kLate,
              .devices = 3,
              .unified_devices = 1,
              .events_need_stream = events_need_stream});
  {
    SimDevice own(0), device(where);
    const StreamHandle lent = sim::CreateBlockingStream(device);
    int seen = 6;
    {
      SyncedMemory memory(kPage, own);
      std::memset(memory.overwrite_cpu_data(), writes ? 1 : 6, kPage);
      {
        const Stream borrowed = Stream::Borrow(device, lent);
        writes ? Fill(memory, borrowed, 6) : See(borrowed, memory.gpu_data(borrowed), seen);
        memory.Forget(borrowed);
      }
      device.DestroyStream(lent);
      if (next == "host reads") CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == 6);
      if (next == "host writes") std::memset(memory.overwrite_cpu_data(), 9, kPage);
      if (next == "device reads") CHECK(Sees(memory, Stream(own)) == 6);
    }
    sim::Drain();
    CHECK(seen == 6);
  }
  CheckNoMisuse();
}

TEST_CASE("what was copied on a borrowed stream is waited for exactly, though the stream is forgotten") {
  sim::Reset({.order = sim::Order::kLate, .events_need_stream = true});
  SimDevice device(0);
  {
    SyncedMemory memory(kPage, device);
    std::memset(memory.overwrite_cpu_data(), 6, kPage);
    const Stream borrowed = Stream::Borrow(device, sim::CreateBlockingStream(device));
    int seen = -1;
    See(borrowed, memory.gpu_data(borrowed), seen);
    memory.Forget(borrowed);
    std::memset(memory.overwrite_cpu_data(), 9, kPage);
    CHECK(seen == -1);
    device.DestroyStream(borrowed.handle());
    sim::Drain();
    CHECK(seen == 6);
  }
  CheckNoMisuse();
}

TEST_CASE("a part is assigned to in one thread while another thread's part goes to further devices") {
  sim::Reset({.devices = 4});
  std::vector<std::unique_ptr<SimDevice>> devices;
  for (int i = 0; i < 4; ++i) devices.push_back(std::make_unique<SimDevice>(i));
  for (int round = 0; round < 10; ++round) {
    SyncedMemory memory(2 * kPage, *devices.front()), source(kPage, *devices.front());
    std::memset(source.overwrite_cpu_data(), round, kPage);
    std::thread assigns([&] {
      for (int i = 0; i < 10; ++i) memory.Assign({0, kPage}, source, 0);
    });
    for (const auto& device : devices) (void)memory.mutable_gpu_data({kPage, kPage}, Stream::Main(*device));
    assigns.join();
    CHECK(*static_cast<const unsigned char*>(memory.cpu_data()) == round);
  }
  CheckNoMisuse();
}

}  // namespace
}  // namespace ferry::testing
