// SPDX-License-Identifier: BSD-2-Clause
// Blocks that are given back while a stream that uses them is under graph capture.
#include <algorithm>
#include <memory>
#include <optional>

#include "ferry/error.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

using sim::SimRuntime;

/// Work is queued on a stream, its capture begins, and the memory that the work uses is given back.
struct FreedUnderCapture : SimWorld {
  FreedUnderCapture() : SimWorld({.memory = kBytes}) {
    std::byte* const block = NewDevice(brief);
    sim::Launch(brief, {block}, [this] { ran = true; });
    sim::BeginCapture(brief);
    Free(MemoryKind::kDevice, block, brief);
    CHECK_FALSE(ran);
    CHECK(Blocks() == 1);
  }
  static long Blocks() {
    long blocks = 0;
    for (const auto& leak : sim::Inspect().leaks) blocks += Contains(leak, "bytes");
    return blocks;
  }
  Stream brief{device};
  bool ran = false;
};

TEST_CASE(
    "memory freed on a captured stream is given back by the first call that names it after the capture") {
  FreedUnderCapture world;
  CHECK_THROWS_AS(world.NewDevice(world.main), OutOfMemory);
  sim::EndCapture(world.brief);
  CHECK(world.NewDevice(world.brief) != nullptr);
  CHECK(world.ran);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE(
    "memory freed on a captured stream goes with the stream after its capture, and the host does not wait") {
  FreedUnderCapture world;
  sim::EndCapture(world.brief);
  world.brief = world.side;
  CHECK(FreedUnderCapture::Blocks() == 0);
  CHECK_FALSE(world.ran);
  sim::Drain();
  CHECK(world.ran);
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("memory freed on a captured stream that ends under capture is given back when the device goes") {
  sim::Reset();
  bool ran = false;
  {
    SimDevice device{0};
    {
      const Stream brief(device);
      void* const block = device.Allocate(MemoryKind::kDevice, kBytes, brief.handle());
      sim::Launch(brief, {block}, [&] { ran = true; });
      sim::BeginCapture(brief);
      device.Deallocate(MemoryKind::kDevice, block, kBytes, brief.handle());
    }
    { const Stream other(device); }  // perhaps with the same handle
    CHECK(FreedUnderCapture::Blocks() == 1);
  }
  CHECK(ran);
  CHECK(sim::Inspect().leaks.empty());
  CHECK(sim::Inspect().misuse.empty());
}

TEST_CASE("memory that was abandoned outlasts the work of streams that were dropped under a later capture") {
  for (const bool memory_pools : {true, false}) {
    INFO(memory_pools);
    sim::Reset({.memory_pools = memory_pools});
    int ran = 0;
    {
      SimDevice device{0};
      const Stream first(device), second(device);
      void* const block = device.Allocate(MemoryKind::kDevice, kBytes, first.handle());
      const Event allocated(first);
      allocated.StreamWait(second);
      const void* const read = block;
      for (const Stream& on : {first, second}) sim::Launch(on, {read}, [&] { ++ran; });
      for (const Stream& on : {first, second}) sim::BeginCapture(on);
      const StreamHandle users[] = {first.handle(), second.handle()};
      device.Abandon(MemoryKind::kDevice, block, kBytes, users);
      sim::EndCapture(first);
      const Event next_use(first);  // which makes a point for the block
      sim::BeginCapture(first);
    }
    CHECK(ran == 2);
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.empty());
  }
}

TEST_CASE("memory freed on a captured stream asks nothing of the stream when its owner has destroyed it") {
  for (const bool memory_pools : {true, false}) {
    SimWorld world({.memory_pools = memory_pools});
    SimRuntime::Stream native{};
    REQUIRE(SimRuntime::StreamCreate(&native) == SimRuntime::kSuccess);
    const auto stream = Stream::Borrow(world.device, StreamHandle{reinterpret_cast<std::uintptr_t>(native)});
    std::byte* const block = world.NewDevice(stream);
    sim::BeginCapture(stream);
    world.Free(MemoryKind::kDevice, block, stream);
    sim::EndCapture(stream);
    REQUIRE(SimRuntime::StreamDestroy(native) == SimRuntime::kSuccess);
    world.Free(MemoryKind::kDevice, world.NewDevice(world.main), world.main);
    { const Stream other(world.device); }
    CHECK(sim::Inspect().misuse.empty());
  }
}

TEST_CASE("memory freed on a captured stream is given back when the device goes") {
  sim::Reset();
  auto device = std::make_unique<SimDevice>(0);
  SimRuntime::Stream native{};
  REQUIRE(SimRuntime::StreamCreate(&native) == SimRuntime::kSuccess);
  const auto stream = Stream::Borrow(*device, StreamHandle{reinterpret_cast<std::uintptr_t>(native)});
  void* const block = device->Allocate(MemoryKind::kDevice, kBytes, stream.handle());
  sim::BeginCapture(stream);
  device->Deallocate(MemoryKind::kDevice, block, kBytes, stream.handle());
  sim::EndCapture(stream);
  device.reset();
  CHECK(sim::Inspect().leaks == std::vector<std::string>{"StreamCreate (call 1): a stream"});
  CHECK(sim::Inspect().misuse.empty());
}

/// A memory that a stream has written and another one has read, which is under capture now.
struct ReaderUnderCapture {
  explicit ReaderUnderCapture(bool unified, bool pooled, std::uint64_t seed) {
    sim::Reset({.seed = seed, .unified = unified});
    device = std::make_unique<SimDevice>(0);
    if (pooled) device = std::make_unique<PooledDevice>(std::move(device));
    writer.emplace(*device);
    reader.emplace(*device);
    memory.emplace(kBytes, *device);
    auto* const written = static_cast<unsigned char*>(memory->overwrite_gpu_data(*writer));
    sim::Launch(*writer, {written}, [=] { std::fill_n(written, kBytes, 7); });
    const auto* const read = static_cast<const unsigned char*>(memory->gpu_data(*reader));
    sim::Launch(*reader, {read}, [this, read] { wrong += std::count(read, read + kBytes, 7) != kBytes; });
    sim::BeginCapture(*reader);
  }
  /// Others take memory and write to it, as often as a freed block could come again.
  void Reuse() {
    for (int i = 0; i < 3; ++i) {
      SyncedMemory other(kBytes, *device);
      auto* const ptr = static_cast<unsigned char*>(other.overwrite_gpu_data(*writer));
      sim::Launch(*writer, {ptr}, [=] { std::fill_n(ptr, kBytes, 9); });
      if (!device->properties().unified) writer->Synchronize();
    }
  }
  ~ReaderUnderCapture() {
    sim::EndCapture(*reader);
    memory.reset();
    reader->Synchronize();
    reader.reset();
    writer.reset();
    device.reset();
    sim::Drain();
    CHECK(wrong == 0);
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.empty());
  }

  std::unique_ptr<Device> device;
  std::optional<Stream> writer, reader;
  std::optional<SyncedMemory> memory;
  int wrong = 0;
};

template <class Check>
void ForEachMachine(Check check) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const bool unified : {false, true})
      for (const bool pooled : {false, true}) {
        INFO("seed " << seed << (unified ? ", unified" : "") << (pooled ? ", pooled" : ""));
        ReaderUnderCapture world(unified, pooled, seed);
        check(world);
      }
}

TEST_CASE(
    "a memory that ends while a reader's stream is under capture gives its block back after the reader") {
  ForEachMachine([](ReaderUnderCapture& world) {
    world.memory.reset();
    world.Reuse();
  });
}

TEST_CASE(
    "a memory that dies under a reader's capture outlasts the reader, though a stream cannot be asked") {
  long faults = 1;
  for (long n = 1; faults != 0; ++n) {
    INFO(n);
    sim::Reset({.fail_at = n, .fail_call = "StreamIsCapturing"});
    try {
      PooledDevice device(std::make_unique<SimDevice>(0));
      const Stream writer(device), reader(device);
      std::optional<SyncedMemory> memory(std::in_place, kBytes, device);
      void* const written = memory->overwrite_gpu_data(writer);
      sim::Launch(writer, {written}, [] {});
      const void* const read = memory->gpu_data(reader);
      sim::Launch(reader, {read}, [] {});
      sim::BeginCapture(reader);
      memory.reset();
      SyncedMemory next(kBytes, device);
      void* const other = next.overwrite_gpu_data(writer);
      sim::Launch(writer, {other}, [] {});  // a race, where it is the same block
      sim::EndCapture(reader);
    } catch (const DeviceError&) {  // one of the accesses
    }
    sim::Drain();
    CHECK(sim::Inspect().misuse.empty());
    CHECK(sim::Inspect().leaks.empty());
    faults = sim::Inspect().faults;
  }
}

TEST_CASE("a memory that dies under a writer's capture outlasts the reader that its block goes back behind") {
  sim::Reset({.order = sim::Order::kLate, .memory = kBytes});
  SimDevice device(0);
  const Stream writer(device), reader(device);
  bool read = false;
  {
    SyncedMemory memory(kBytes, device);
    void* const written = memory.overwrite_gpu_data(writer);
    sim::Launch(writer, {written}, [] {});
    const void* const ptr = memory.gpu_data(reader);
    sim::Launch(reader, {ptr}, [&] { read = true; });
    sim::BeginCapture(writer);
  }
  sim::EndCapture(writer);
  auto* const next = static_cast<std::byte*>(
      device.Allocate(MemoryKind::kDevice, kBytes, writer.handle()));  // there is one block
  sim::Launch(writer, {next}, [] {});
  writer.Synchronize();
  CHECK(read);
  device.Deallocate(MemoryKind::kDevice, next, kBytes, writer.handle());
  sim::Drain();
  CHECK(sim::Inspect().misuse == std::vector<std::string>{});
}

TEST_CASE("new bytes are refused while a reader's stream is under capture, and nothing changes") {
  ForEachMachine([](ReaderUnderCapture& world) {
    const bool unified = world.device->properties().unified;
    void* const bytes = world.device->Allocate(unified ? MemoryKind::kManaged : MemoryKind::kDevice, kBytes,
                                               world.writer->handle());
    CHECK_THROWS_AS(world.memory->set_gpu_data(bytes, *world.writer), StreamCaptureError);
    CHECK(world.memory->head() == SyncedMemory::HEAD_AT_GPU);
    world.writer->Synchronize();
    world.device->Deallocate(unified ? MemoryKind::kManaged : MemoryKind::kDevice, bytes, kBytes,
                             world.writer->handle());
    world.Reuse();
    sim::EndCapture(*world.reader);
    const auto* const host = static_cast<const unsigned char*>(world.memory->cpu_data());
    CHECK(std::count(host, host + kBytes, 7) == kBytes);
    sim::BeginCapture(*world.reader);
  });
}

TEST_CASE("adopted bytes whose reader's stream is under capture are not freed with their memory") {
  for (const bool unified : {false, true}) {
    SimWorld world({.unified = unified});
    const auto kind = unified ? MemoryKind::kManaged : MemoryKind::kDevice;
    void* const bytes = world.device.Allocate(kind, kBytes, world.main.handle());
    int freed = 0;
    {
      SyncedMemory memory(kBytes, world.device);
      memory.set_gpu_data(bytes, [&](void*) { ++freed; });
      memory.gpu_data(world.side);
      sim::BeginCapture(world.side);
    }
    CHECK(freed == 0);
    sim::EndCapture(world.side);
    world.side.Synchronize();
    world.Free(kind, bytes, world.main);
    CHECK(sim::Inspect().misuse.empty());
  }
}

}  // namespace
}  // namespace ferry::testing
