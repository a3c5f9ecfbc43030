// SPDX-License-Identifier: BSD-2-Clause
// What a ledger knows of the time that the host spent, and of fills beside copies.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "ferry/forwarding_device.hpp"
#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

struct Sum {
  std::uint64_t count = 0, bytes = 0;
  std::int64_t took_ns = 0;
};
Sum Of(const Ledger& ledger, LedgerKind kind) {
  Sum sum;
  for (const LedgerEntry& entry : ledger.Entries())
    if (entry.kind == kind) sum.count += entry.count, sum.bytes += entry.bytes, sum.took_ns += entry.took_ns;
  return sum;
}

/// The simulated GPU, with calls that take their time.
struct Slow : FullForwardingDevice {
  static constexpr std::chrono::milliseconds kNap{2};

  Slow() : FullForwardingDevice(MakeDevice("sim:0")) {}
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    std::this_thread::sleep_for(kNap);
    return next().Allocate(kind, bytes, on);
  }
  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override {
    std::this_thread::sleep_for(kNap);
    return next().CopyAndRecord(kind, dst, src, bytes, on);
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    std::this_thread::sleep_for(kNap);
    next().Fill(dst, value, bytes, on);
  }
  void HostWait(EventHandle event) override {
    std::this_thread::sleep_for(kNap);
    next().HostWait(event);
  }
};

TEST_CASE("A ledger sums what copies, fills, allocations, evictions and waits took") {
  sim::Reset({.seed = 1});
  Slow device;
  const Ledger ledger;
  SyncedMemory memory(40, device, "x");
  memory.gpu_data();          // an allocation and a fill
  memory.mutable_cpu_data();  // an allocation, a copy and a wait
  memory.gpu_data();          // a copy
  memory.Release(Side::kCpu);
  const std::int64_t nap = std::chrono::nanoseconds(Slow::kNap).count();
  const auto check = [&](LedgerKind kind, std::uint64_t count) {
    CAPTURE(static_cast<int>(kind));
    const Sum sum = Of(ledger, kind);
    CHECK(sum.count == count);
    CHECK(sum.took_ns >= nap * static_cast<std::int64_t>(count));
  };
  check(LedgerKind::kCopy, 2);
  check(LedgerKind::kFill, 1);
  check(LedgerKind::kAllocation, 2);
  check(LedgerKind::kEviction, 1);
  check(LedgerKind::kWait, 1);
}

/// The simulated GPU, whose work is over some time after it was queued.
struct Busy : FullForwardingDevice {
  static constexpr std::chrono::milliseconds kWork{20};

  Busy() : FullForwardingDevice(MakeDevice("sim:0")) {}
  void HostWait(EventHandle event) override {
    std::this_thread::sleep_for(kWork);
    next().HostWait(event);
  }
};

TEST_CASE("A Prefetch would have been in time where the host knew long before that it reads what is done") {
  struct Case {
    bool knows;
    std::chrono::milliseconds between;
    bool host_writes;
    std::uint64_t in_time;
  };
  constexpr std::chrono::milliseconds kNone{0}, kLong = 2 * Busy::kWork;
  for (const auto& [knows, between, host_writes, in_time] :
       {Case{true, kLong, false, 1}, Case{true, kNone, false, 0}, Case{true, kLong, true, 0},
        Case{false, kLong, false, 0}}) {
    CAPTURE(knows, between.count(), host_writes);
    sim::Reset({.seed = 1});
    Busy device;
    SyncedMemory memory(40, device, "x");
    const Ledger ledger;
    memory.mutable_gpu_data();
    if (knows) Stream::Main(device).Synchronize();
    std::this_thread::sleep_for(between);
    host_writes ? static_cast<void>(memory.mutable_cpu_data()) : static_cast<void>(memory.cpu_data());
    CHECK(Of(ledger, LedgerKind::kWait).count == (knows ? 2 : 1));
    CHECK(Total(ledger, &LedgerEntry::in_time) == in_time);
  }
}

TEST_CASE(
    "The host knows of each part that it is done since it waited for the stream, and not since the last "
    "part") {
  sim::Reset({.seed = 1});
  Busy device;
  SyncedMemory memory(40, device, "x");
  const Stream main = Stream::Main(device);
  const Ledger ledger;
  for (std::uint64_t i = 1; i <= 2; ++i) {
    for (const std::size_t first : {0U, 20U}) memory.mutable_gpu_data({first, 20}, main);
    main.Synchronize();
    std::this_thread::sleep_for(2 * Busy::kWork);
    for (const std::size_t first : {0U, 20U}) memory.cpu_data({first, 20});
    CHECK(Total(ledger, &LedgerEntry::in_time) == 2 * i);
  }
}

TEST_CASE("Of two parts that one line writes, each is done when its own stream is") {
  sim::Reset({.seed = 1});
  const auto device = MakeDevice("sim:0");
  const std::array<Stream, 2> streams{Stream(*device), Stream(*device)};
  const bool calls = GENERATE(false, true);
  const std::size_t done = GENERATE(0U, 1U), other = 1 - done;
  Array<float> array(10, *device);
  SyncedMemory& x = *array.memory();
  const Ledger ledger;
  for (std::int64_t i = 0; i < 2; ++i)
    if (const std::size_t first = 20 * static_cast<std::size_t>(i); calls)
      Set(Place(streams[static_cast<std::size_t>(i)]), 1.0F, array.Slice(5 * i, 5));
    else
      x.mutable_gpu_data({first, 20}, streams[static_cast<std::size_t>(i)]);
  streams.at(done).Synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  x.cpu_data({20 * other, 20});
  CHECK(Total(ledger, &LedgerEntry::in_time) == 0);
  x.cpu_data({20 * done, 20});
  CHECK(Total(ledger, &LedgerEntry::in_time) == 1);
}

TEST_CASE("Who reads on a device has not written, though the ledger is told of it") {
  sim::Reset({.seed = 1});
  const auto device = MakeDevice("sim:0");
  const Stream main = Stream::Main(*device), other(*device);
  SyncedMemory x(40, *device);
  const Ledger ledger(Ledger::Detail::kVerify);
  x.mutable_gpu_data();
  x.gpu_data(other);
  main.Synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  x.cpu_data();
  CHECK(Total(ledger, &LedgerEntry::in_time) == 1);
}

TEST_CASE("That a write is done the host knows by a wait for its stream, after it, and by no other") {
  sim::Reset({.seed = 1});
  const auto device = MakeDevice("sim:0");
  const Stream on(*device), other(*device);
  const auto in_time = [&](auto before, auto after) {
    SyncedMemory x(40, *device);
    Array<float> y(10, *device);
    Set(Place(on), 1.0F, y);
    const Ledger ledger;
    before(y);
    x.mutable_gpu_data(on);
    after(y);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    x.cpu_data();
    return Total(ledger, &LedgerEntry::in_time);
  };
  const auto nothing = [](const Array<float>&) {};
  const auto synchronizes = [](const Stream& stream) {
    return [&stream](const Array<float>&) { stream.Synchronize(); };
  };
  CHECK(in_time(nothing, synchronizes(on)) == 1);
  CHECK(in_time(synchronizes(on), nothing) == 0);
  CHECK(in_time(nothing, synchronizes(other)) == 0);
  CHECK(in_time(nothing, [&](const Array<float>& y) { Place::Cpu(*device).Read(y); }) == 1);
  CHECK(in_time(nothing, [&](const Array<float>& y) { static_cast<void>(Asum(Place(on), y)); }) == 1);
  CHECK(in_time(nothing, [&](const Array<float>& y) { static_cast<void>(Asum(Place(other), y)); }) == 0);
}

TEST_CASE("No Prefetch would have been in time whose copy the host gave back again") {
  LedgerFixture f;
  const Stream on(*f.device);
  SyncedMemory x(40, *f.device);
  x.mutable_cpu_data();
  const Ledger ledger;
  x.mutable_gpu_data(on);
  on.Synchronize();
  x.Release(Side::kCpu);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  x.cpu_data();
  CHECK(Total(ledger, &LedgerEntry::in_time) == 0);
}

void Touch(const SyncedMemory& memory, const Stream* on) {
  on != nullptr ? memory.gpu_data(*on) : memory.cpu_data();
}

TEST_CASE("A copy to the host on the way to another device is none for the host") {
  sim::Reset({.seed = 1, .order = sim::Order::kLate, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Stream on(*first), there(*second);
  SyncedMemory x(40, *first), y(40, *first);
  const Ledger ledger;
  x.mutable_gpu_data(on);
  Touch(x, &there);
  y.mutable_gpu_data(on);
  Touch(x, nullptr);  // waits for the copy, and not for what was queued since
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  y.cpu_data();
  CHECK(Total(ledger, &LedgerEntry::in_time) == 0);
}

TEST_CASE("A copy for an access that fails is not what a later wait is for") {
  sim::Reset({.seed = 1, .order = sim::Order::kLate, .fail_at = 2, .fail_call = "MemcpyAsync"});
  const auto device = MakeDevice("sim:0");
  const Stream on(*device);
  SyncedMemory x(40, *device);
  x.overwrite_gpu_data({0, 20}, on), x.overwrite_gpu_data({30, 10}, on), x.overwrite_cpu_data({20, 10});
  const Ledger ledger;
  CHECK_THROWS_AS(Touch(x, nullptr), DeviceError);  // the second of two copies
  x.mutable_gpu_data(on);
  on.Synchronize();
  x.Prefetch(Side::kCpu, on);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Touch(x, nullptr);
  CHECK(Total(ledger, &LedgerEntry::in_time) == 0);
}

TEST_CASE("What a memory's end and bytes that are given wait for takes its time") {
  sim::Reset({.seed = 1});
  Slow device;
  std::array<char, 40> given{};
  const Ledger ledger;
  for (const bool gives : {false, true}) {
    SyncedMemory memory(40, device, "x");
    memory.mutable_cpu_data();
    memory.gpu_data();
    if (gives) memory.set_cpu_data(given.data());
  }
  const Sum waits = Of(ledger, LedgerKind::kWait);
  CHECK(waits.count == 2);
  CHECK(waits.took_ns >= 2 * std::chrono::nanoseconds(Slow::kNap).count());
}

TEST_CASE("A memory that ends with its blocks has evicted none") {
  LedgerFixture f;
  const Ledger ledger;
  { SyncedMemory(64, *f.device, "x").gpu_data(); }
  CHECK(Of(ledger, LedgerKind::kAllocation).count == 1);
  CHECK(Of(ledger, LedgerKind::kEviction).count == 0);
}

TEST_CASE("What an access zeroes counts as a fill, though it copies as well") {
  LedgerFixture f;
  SyncedMemory memory(64, *f.device, "x");
  memory.overwrite_cpu_data({0, 16});
  const Ledger ledger;
  memory.gpu_data();
  CHECK(Of(ledger, LedgerKind::kCopy).bytes == 16);
  CHECK(Of(ledger, LedgerKind::kFill).bytes == 48);
}

TEST_CASE("Zeros for a call that fails count, and those for the next call no more") {
  LedgerFixture f;
  Array<float> x(100, *f.device, "x"), y(100, *f.device, "y");
  const Ledger ledger;
  SetMemoryLimit(*f.device, 700);
  CHECK_THROWS_AS(Axpy(Place(*f.device), 1.0F, x, y), OutOfMemory);
  CHECK(Of(ledger, LedgerKind::kFill).bytes == 400);
  SetMemoryLimit(*f.device, 0);
  Axpy(Place(*f.device), 1.0F, x, y);
  const Sum fills = Of(ledger, LedgerKind::kFill);
  CHECK(fills.count == 2);
  CHECK(fills.bytes == 800);
}

TEST_CASE("A fill says where the zeros are, and who needs them for what") {
  LedgerFixture f;
  SyncedMemory x(64, *f.device, "x"), y(64, *f.device, "y");
  const Ledger ledger;
  x.Prefetch(Side::kGpu, Stream::Main(*f.device));
  y.mutable_cpu_data();
  for (const LedgerEntry& entry : ledger.Entries()) {
    if (entry.kind != LedgerKind::kFill) continue;
    const bool there = entry.label == "x";
    CHECK(entry.to == (there ? "sim:0" : "the host"));
    CHECK(entry.purpose == (there ? Purpose::kPrefetch : Purpose::kAccess));
    CHECK(entry.access == (there ? Access::kRead : Access::kReadWrite));
  }
  CHECK(Of(ledger, LedgerKind::kFill).count == 2);
}

}  // namespace
}  // namespace ferry::testing
