// SPDX-License-Identifier: BSD-2-Clause
// What a ledger proves to be needless.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ledger_fixture.hpp"
#include "sim_child.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("Who asks for bytes mutable and writes none is told so, where the ledger verifies") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Blob<float> blob({100}, *f.device);
  blob.set_name("weight7");
  GrowThere(blob);
  for (int i = 0; i < 3; ++i) Norm(blob), Step(blob);
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("\"weight7\" copied 3 times, 1.2 kB: Norm (ledger_fixture.hpp:") &&
                 ContainsSubstring(") asked for it mutable, then Step (ledger_fixture.hpp:") &&
                 ContainsSubstring(") read it on sim:0; read-only access would save all of them"));
}

TEST_CASE("Who writes gets no such advice, and nobody where the ledger does not verify") {
  LedgerFixture f;
  const Ledger verifies(Ledger::Detail::kVerify), does_not;
  Blob<float> blob({100}, *f.device);
  for (int i = 0; i < 3; ++i) Grow(blob), Step(blob);
  CHECK(verifies.Advice().empty());
  Blob<float> unwritten({100}, *f.device);
  Step(unwritten), Norm(unwritten), Step(unwritten);
  CHECK(does_not.Advice().empty());
  CHECK(verifies.Advice().size() == 1);
}

TEST_CASE("Bytes that somebody overwrites meanwhile are none that the host asked for and did not write") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Blob<float> blob({100}, *f.device);
  Step(blob), Norm(blob);
  blob.mutable_gpu_data();
  blob.cpu_data();
  blob.overwrite_cpu_data();
  Step(blob);
  blob.data()->Release(Side::kGpu);
  Step(blob);
  Norm(blob);
  blob.overwrite_gpu_data();
  blob.overwrite_cpu_data();  // with what there was when Norm asked
  Step(blob);
  std::uint64_t copies = 0, unwritten = 0;
  for (const LedgerEntry& entry : ledger.Entries())
    if (entry.kind == LedgerKind::kCopy) copies += entry.count, unwritten += entry.unwritten;
  CHECK(copies == 6);
  CHECK(unwritten == 2);  // that of Norm's, and that of the device's
}

TEST_CASE("A copy to who has never had the bytes, or has given them back, is none that a read would save") {
  sim::Reset({.seed = 1, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Place cpu = Place::Cpu(*first), one(*first), two(*second);
  const Ledger ledger(Ledger::Detail::kVerify);
  const auto ask = [&](auto&& x) { cpu.ReadWrite(x); };
  Array<float> fresh(100, *first), elsewhere(100, *first), gone(100, *first), part(100, *first);
  ask(fresh), one.Read(fresh);
  one.Read(elsewhere), ask(elsewhere), two.Read(elsewhere);
  one.Read(gone), ask(gone), gone.Release(*first), one.Read(gone);
  cpu.Overwrite(part);  // else what is asked for is zeroed
  one.Read(part.Slice(0, 50)), two.Read(part), ask(part.Slice(40, 20));
  one.Read(part.Slice(40, 20));
  CHECK(Joined(ledger.Advice()).empty());
  one.Read(part), ask(part.Slice(40, 20)), one.Read(part.Slice(40, 20));
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("copied once, 80 B") && ContainsSubstring("would save all of them"));
}

TEST_CASE(
    "A device that lost the bytes in a Resize, or gave given ones back, is none that a read would save a "
    "copy to") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  SyncedMemory memory(40, *f.device, "x");
  memory.gpu_data();
  memory.Resize(0), memory.Resize(40);
  memory.mutable_cpu_data();
  memory.gpu_data();
  memory.mutable_gpu_data();
  memory.Resize(20), memory.Resize(40);
  memory.mutable_cpu_data();
  memory.gpu_data();
  SyncedMemory given(40, *f.device, "y");
  void* const bytes = f.device->Allocate(MemoryKind::kDevice, 40, f.device->properties().main_stream);
  given.set_gpu_data(bytes, Stream::Main(*f.device));
  given.cpu_data();
  given.Release(Side::kGpu);
  given.mutable_cpu_data();
  given.gpu_data();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
  f.device->Deallocate(MemoryKind::kDevice, bytes, 40, f.device->properties().main_stream);
}

TEST_CASE(
    "A device that gave given bytes back while another had them, or lent what a Resize took, has none") {
  sim::Reset({.seed = 1, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Stream main = Stream::Main(*first);
  void* const bytes = first->Allocate(MemoryKind::kDevice, 40, main.handle());
  const Ledger ledger(Ledger::Detail::kVerify);
  SyncedMemory given(40, *first, "given"), taken(40, *first, "taken");
  given.set_gpu_data(bytes, main);
  given.gpu_data(Stream::Main(*second)), given.cpu_data();
  given.Release(*first);
  given.mutable_cpu_data(), given.gpu_data();
  taken.gpu_data(), taken.mutable_cpu_data();
  taken.Resize(0), taken.Resize(40);
  taken.cpu_data(), taken.gpu_data();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
  first->Deallocate(MemoryKind::kDevice, bytes, 40, main.handle());
}

TEST_CASE("A wait that a Prefetch would have spared is told, unless a later call wrote the bytes in place") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> last({100}, *f.device), written_on({100}, *f.device);
  last.set_name("last"), written_on.set_name("written on");
  for (Blob<float>* const blob : {&last, &written_on}) GrowThere(*blob);
  Set(Place(*f.device), 1.0F, written_on);
  Stream::Main(*f.device).Synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Look(last), Look(written_on);
  const std::string advice = Joined(ledger.Advice());
  CHECK_THAT(advice,
             ContainsSubstring("for \"last\" in Look (ledger_fixture.hpp:") &&
                 ContainsSubstring("a Prefetch to the host right after GrowThere (ledger_fixture.hpp:") &&
                 ContainsSubstring(
                     "would have been in time once, unless the bytes were written in place after that"));
  CHECK_THAT(advice, !ContainsSubstring("written on"));
}

TEST_CASE("A call that only reads the bytes on the GPU has not written them") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> x({100}, *f.device), y({100}, *f.device);
  GrowThere(x), GrowThere(y);
  Axpy(Place(*f.device), 2.0F, x, y);
  Stream::Main(*f.device).Synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Look(x);
  CHECK(Total(ledger, &LedgerEntry::in_time) == 1);
}

TEST_CASE("A wait is not said to want a Prefetch that was made, or where nothing is copied") {
  const bool unified = GENERATE(false, true);
  sim::Reset({.order = sim::Order::kLate, .unified = unified});
  const auto device = MakeDevice("sim:0");
  const Ledger ledger;
  Blob<float> blob({100}, *device);
  GrowThere(blob);
  Stream::Main(*device).Synchronize();
  if (!unified) blob.data()->Prefetch(Side::kCpu, Stream::Main(*device));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  Look(blob);
  std::uint64_t waits = 0;
  for (const LedgerEntry& entry : ledger.Entries())
    waits += entry.kind == LedgerKind::kWait ? entry.count : 0;
  CHECK(waits == 2);  // that of Synchronize, too
  CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("would have been in time"));
}

TEST_CASE("A Prefetch is wanted of the parts that had none, and by the host alone") {
  sim::Reset({.order = sim::Order::kLate, .devices = 2, .peers = false});
  const auto device = MakeDevice("sim:0"), other = MakeDevice("sim:1");
  const Stream on = Stream::Main(*device);
  const auto pause = [&] {
    on.Synchronize();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  const auto in_time = [](const Ledger& ledger) { return Total(ledger, &LedgerEntry::in_time); };
  const Ledger line;
  SyncedMemory one(64, *device);
  one.mutable_gpu_data(on);
  one.Prefetch(Side::kCpu, on), pause(), one.cpu_data();
  CHECK(in_time(line) == 0);
  const Ledger parts;
  SyncedMemory two(64, *device);
  two.mutable_gpu_data(on);
  two.Prefetch(Side::kCpu, on, {32, 32});
  pause();
  for (const std::size_t first : {0U, 32U}) two.cpu_data({first, 32});
  CHECK(in_time(parts) == 1);
  std::vector<char> given(64);
  SyncedMemory three(64, *device);
  three.set_cpu_data(given.data());
  const Ledger of_device;
  three.mutable_gpu_data(on);
  pause();
  three.gpu_data(Stream::Main(*other));
  CHECK(in_time(of_device) == 0);
}

TEST_CASE("A wait that fails is for no later one's bytes") {
  sim::Reset({.order = sim::Order::kLate, .fail_at = 1, .fail_call = "EventSynchronize"});
  const auto device = MakeDevice("sim:0");
  const Stream on = Stream::Main(*device);
  SyncedMemory x(64, *device);
  x.mutable_gpu_data(on);
  x.Prefetch(Side::kCpu, on, {32, 32});
  const Ledger ledger;
  x.mutable_gpu_data(on);
  x.Prefetch(Side::kCpu, on, {32, 32});
  on.Synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto read = [&](std::size_t first) { x.cpu_data({first, 32}); };
  CHECK_THROWS_AS(read(0), DeviceError);
  read(32);
  std::uint64_t waits = 0;
  for (const LedgerEntry& entry : ledger.Entries()) {
    waits += entry.kind == LedgerKind::kWait ? entry.count : 0;
    CHECK(entry.in_time == 0);
  }
  CHECK(waits == 2);  // that of Synchronize, too
}

TEST_CASE("Copies from and to bytes that were given are told to be pageable") {
  LedgerFixture f;
  const Ledger ledger;
  std::vector<float> given(100);
  Blob<float> blob({100}, *f.device);
  blob.set_cpu_data(given.data());
  Step(blob);
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("copied once, 400 B, from bytes that the program gave"));
  blob.mutable_gpu_data();
  Look(blob);
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("copied once, 400 B, to bytes that the program gave"));
}

TEST_CASE("Bytes that Ferry allocates are not told to be given, though a guard has them pageable") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    const LedgerFixture f;
    const Ledger ledger;
    Blob<float> blob({100}, *f.device);
    Grow(blob);
    Step(blob);
    if (std::ranges::any_of(ledger.Entries(), &LedgerEntry::pageable)) std::fputs("pageable", stderr);
  });
  CHECK(ended.signal == 0);
  CHECK(ended.errors.empty());
}

TEST_CASE("Bytes that were given and are pinned are not told to be pageable") {
  LedgerFixture f;
  const StreamHandle main = f.device->properties().main_stream;
  void* const given = f.device->Allocate(MemoryKind::kPinnedHost, 400, main);
  {
    const Ledger ledger;
    Blob<float> blob({100}, *f.device);
    blob.set_cpu_data(static_cast<float*>(given));
    Step(blob);
    blob.mutable_gpu_data();
    Look(blob);
    CHECK(std::ranges::count_if(ledger.Entries(), [](const LedgerEntry& entry) {
            return entry.kind == LedgerKind::kCopy && !entry.pageable;
          }) == 2);
    CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("that the program gave"));
  }
  f.device->Deallocate(MemoryKind::kPinnedHost, given, 400, main);
}

}  // namespace
}  // namespace ferry::testing
