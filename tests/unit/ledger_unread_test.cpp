// SPDX-License-Identifier: BSD-2-Clause
// Which Prefetches and Releases a ledger knows to have been in vain.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Of the copies by Prefetch, how many were made in vain, after `deed`.
template <class Deed>
std::uint64_t UnreadAfter(Deed deed) {
  LedgerFixture f;
  const Ledger ledger;
  {
    SyncedMemory memory(40, *f.device, "x");
    memory.overwrite_cpu_data();
    Fetch(memory, Side::kGpu);
    deed(memory);
  }
  return Total(ledger, &LedgerEntry::unread);
}

TEST_CASE("A Prefetch whose bytes nobody used before they were stale or gone was in vain") {
  CHECK(UnreadAfter([](SyncedMemory&) {}) == 1);
  CHECK(UnreadAfter([](SyncedMemory& x) { x.mutable_cpu_data(); }) == 1);
  CHECK(UnreadAfter([](SyncedMemory& x) { x.Release(Side::kGpu); }) == 1);
  CHECK(UnreadAfter([](SyncedMemory& x) { x.overwrite_gpu_data(), x.gpu_data(), x.cpu_data(); }) == 1);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          x.Release(Side::kCpu);
          for (int i = 0; i < 2; ++i) x.overwrite_gpu_data({0, 39}, Stream::Main(x.device()));
        }) == 1);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          std::array<char, 40> bytes{};
          x.set_cpu_data(bytes.data());
          x.cpu_data();
        }) == 1);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          x.overwrite_gpu_data();  // the first one's bytes
          Fetch(x, Side::kCpu);
          x.mutable_gpu_data();
        }) == 2);
}

TEST_CASE("A Prefetch in vain counts for the memory that has no label, too") {
  LedgerFixture f;
  const Ledger ledger;
  {
    SyncedMemory memory(40, *f.device);
    memory.overwrite_cpu_data();
    Fetch(memory, Side::kGpu);
    CHECK(Total(ledger, &LedgerEntry::unread) == 0);
  }
  CHECK(Total(ledger, &LedgerEntry::unread) == 1);
}

TEST_CASE("A Prefetch whose bytes were not even copied on, since that was refused, was in vain") {
  CHECK(UnreadAfter([](SyncedMemory& x) {
          x.Release(Side::kCpu);
          {
            const TransferGuard guard(TransferPolicy::kThrow);
            CHECK_THROWS_AS(x.cpu_data(), Error);
          }
          x.overwrite_cpu_data();
        }) == 1);
}

TEST_CASE("A Prefetch whose bytes somebody used was not in vain, in place, in part or by another stream") {
  CHECK(UnreadAfter([](SyncedMemory& x) { x.gpu_data(), x.mutable_cpu_data(); }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) { x.mutable_gpu_data(), x.mutable_cpu_data(); }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          const Stream on(x.device());
          x.gpu_data({39, 1}, on);
          x.mutable_cpu_data();
        }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          const Stream on(x.device());
          x.gpu_data({0, 1}, on);
          x.mutable_cpu_data();
        }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          const Stream on(x.device());
          x.overwrite_gpu_data({0, 39}, on);
          x.gpu_data({39, 1}, on);
          x.mutable_cpu_data();
        }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          const Stream on(x.device());
          x.overwrite_gpu_data({1, 39}, on);
          x.gpu_data({0, 1}, on);
          x.mutable_cpu_data();
        }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) { x.Release(Side::kCpu), x.gpu_data(), x.mutable_cpu_data(); }) == 0);
  CHECK(UnreadAfter([](SyncedMemory& x) {
          x.mutable_gpu_data();
          Fetch(x, Side::kCpu);
          x.cpu_data();
          x.mutable_gpu_data();
        }) == 0);
}

TEST_CASE("A Prefetch whose bytes were overwritten in parts, all of them unread, was in vain") {
  const auto overwrite = [](SyncedMemory& x, ByteRange range) {
    x.overwrite_gpu_data(range, Stream::Main(x.device()));
  };
  const auto read = [](SyncedMemory& x, ByteRange range) { x.gpu_data(range, Stream::Main(x.device())); };
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          overwrite(x, {0, 20}), overwrite(x, {20, 20}), read(x, {});
        }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          overwrite(x, {20, 20}), overwrite(x, {0, 20}), read(x, {});
        }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          overwrite(x, {10, 20}), read(x, {10, 20});  // the new ones
          overwrite(x, {0, 10}), overwrite(x, {30, 10}), read(x, {});
        }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          overwrite(x, {0, 20}), x.overwrite_cpu_data({20, 20}), read(x, {});
        }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          overwrite(x, {10, 20}), read(x, {9, 1}), overwrite(x, {});
        }) == 0);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          overwrite(x, {10, 20}), read(x, {30, 1}), overwrite(x, {});
        }) == 0);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          x.Resize(20), x.Resize(40);  // the second half is of zeros now
          read(x, {20, 20}), overwrite(x, {0, 20}), read(x, {});
        }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) { x.Resize(20), x.Resize(40), read(x, {19, 1}); }) == 0);
  CHECK(UnreadAfter([&](SyncedMemory& x) { overwrite(x, {0, 20}), x.Resize(20), read(x, {}); }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) { read(x, {10, 0}), overwrite(x, {}); }) == 1);  // reads none
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          const SyncedMemory zeros(40, x.device());
          x.Assign(zeros, 40);
          read(x, {});
        }) == 1);
  CHECK(UnreadAfter([&](SyncedMemory& x) {
          const SyncedMemory zeros(40, x.device());
          for (const std::size_t first : {0U, 20U}) x.Assign({first, 20}, zeros, first), read(x, {first, 20});
        }) == 1);
}

void LetGo(SyncedMemory& x) { x.Release(Side::kGpu); }

TEST_CASE(
    "A Release whose bytes nobody used where it brought them was in vain, and one that is used was not") {
  const auto unread = [](auto deed) {
    LedgerFixture f;
    const Ledger ledger;
    {
      SyncedMemory x(40, *f.device, "x");
      x.overwrite_gpu_data();
      LetGo(x);
      deed(x);
    }
    return std::pair(Total(ledger, &LedgerEntry::unread), Joined(ledger.Advice()));
  };
  const auto [count, advice] = unread([](SyncedMemory& x) { x.overwrite_gpu_data(); });
  CHECK(count == 1);
  CHECK_THAT(
      advice,
      ContainsSubstring("\"x\" copied to the host by the Release in LetGo (ledger_unread_test.cpp:") &&
          ContainsSubstring(": once of 1, nobody read it there before it was overwritten or given "
                            "back, or the program ended; unless a pointer that was kept has been "
                            "used, without that Release there is no copy, unless a later Release makes it"));
  CHECK(unread([](SyncedMemory&) {}).first == 1);
  CHECK(unread([](SyncedMemory& x) { x.cpu_data(), x.overwrite_gpu_data(); }).first == 0);
  CHECK(unread([](SyncedMemory& x) { x.gpu_data(), x.overwrite_gpu_data(); }).first == 0);
}

TEST_CASE("A Prefetch is not in vain whose bytes were copied on") {
  sim::Reset({.devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Stream there = Stream::Main(*second);
  SyncedMemory x(40, *first, "x");
  const Ledger ledger;
  x.overwrite_gpu_data();
  x.Prefetch(Side::kGpu, there);  // by way of the host
  x.gpu_data(there);
  x.mutable_gpu_data(there);
  x.mutable_gpu_data();
  x.Prefetch(Side::kCpu, Stream::Main(*first));
  x.gpu_data(there);  // from the host
  x.mutable_gpu_data();
  CHECK(Total(ledger, &LedgerEntry::unread) == 0);
}

TEST_CASE("A Prefetch to the program's own bytes is not in vain, since it reads them without an access") {
  LedgerFixture f;
  std::array<char, 40> bytes{};
  SyncedMemory x(40, *f.device, "x");
  x.set_cpu_data(bytes.data());
  const Ledger ledger;
  x.mutable_gpu_data();
  Fetch(x, Side::kCpu);
  Stream::Main(*f.device).Synchronize();
  x.mutable_gpu_data();
  CHECK(Total(ledger, &LedgerEntry::unread) == 0);
}

TEST_CASE("The advice on a Prefetch in vain names its line and how often it was") {
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory memory(40, *f.device, "x");
  for (int i = 0; i < 3; ++i) {
    memory.overwrite_cpu_data();
    Fetch(memory, Side::kGpu);
    if (i == 0) memory.gpu_data();
  }
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("\"x\" copied to sim:0 by the Prefetch in Fetch (ledger_fixture.hpp:") &&
                 ContainsSubstring(": once of 3, nobody read it there before") &&
                 ContainsSubstring("used, what that copied was needless\n"));
  CHECK_THAT(ledger.Json(), ContainsSubstring("\"unread\": 1"));
}

TEST_CASE("A Prefetch from before the ledger is not one that it has counted") {
  LedgerFixture f;
  const Watch watch([](const AccessRecord&) {});
  Array<float> x(20, *f.device, "x");
  Set(Place::Cpu(*f.device), 1.0F, x);
  std::optional<Ledger> ledger;
  const bool uses = GENERATE(false, true);
  for (const std::int64_t first : {0, 10}) {
    if (first == 10) ledger.emplace();
    x.Slice(first, 10).Prefetch(Side::kGpu, Stream::Main(*f.device));
  }
  if (uses) Place(*f.device).Read(x.Slice(10, 10));
  Set(Place::Cpu(*f.device), 2.0F, x);
  const auto entries = ledger->Entries();
  const LedgerEntry* const copy = Find(entries, LedgerKind::kCopy);
  REQUIRE(copy != nullptr);
  CHECK(copy->count == 1);
  CHECK(copy->unread == (uses ? 0U : 1U));
}

TEST_CASE("A Prefetch in vain is of the label that its memory had then") {
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory a(40, *f.device, "a"), b(40, *f.device, "b");
  for (SyncedMemory* const x : {&a, &b}) x->overwrite_cpu_data();
  for (SyncedMemory* const x : {&a, &b}) x->Prefetch(Side::kGpu, Stream::Main(*f.device));
  a.set_label("b");
  for (SyncedMemory* const x : {&a, &b}) x->overwrite_cpu_data();
  for (const LedgerEntry& entry : ledger.Entries())
    CHECK(entry.unread == (entry.kind == LedgerKind::kCopy ? 1U : 0U));
}

TEST_CASE("A Prefetch is pending until somebody reads its bytes, or all of them are lost") {
  LedgerFixture f;
  Ledger ledger;
  using Counts = std::pair<std::uint64_t, std::uint64_t>;  // in vain, and pending
  const auto counts = [&] {
    return Counts(Total(ledger, &LedgerEntry::unread), Total(ledger, &LedgerEntry::pending));
  };
  SyncedMemory x(40, *f.device, "x");
  const auto write = [&] { x.overwrite_cpu_data(); };
  write();
  Fetch(x, Side::kGpu);
  CHECK(counts() == Counts(0, 1));
  x.gpu_data({0, 4}, Stream::Main(*f.device));
  CHECK(counts() == Counts(0, 0));
  write();
  Fetch(x, Side::kGpu);
  write();
  CHECK(counts() == Counts(1, 0));
  Fetch(x, Side::kGpu);
  CHECK(counts() == Counts(1, 1));
  CHECK_THAT(ledger.Json(), ContainsSubstring("\"pending\": 1"));
  ledger.CountPendingAsUnread();
  CHECK(counts() == Counts(2, 0));
  x.gpu_data();  // too late
  write();
  Fetch(x, Side::kGpu);
  CHECK(counts() == Counts(2, 0));
  CHECK_THAT(Joined(ledger.Advice()), ContainsSubstring("2 times of 4, nobody read it there before"));
}

TEST_CASE("A copy whose readers nobody can know is not pending") {
  LedgerFixture f;
  const Ledger ledger;
  std::array<char, 130> bytes{};
  SyncedMemory adopted(bytes.size(), *f.device), many(bytes.size(), *f.device);
  adopted.set_cpu_data(bytes.data());
  adopted.mutable_gpu_data();
  Fetch(adopted, Side::kCpu);
  CHECK(Total(ledger, &LedgerEntry::pending) == 0);
  many.overwrite_cpu_data();
  for (std::size_t i = 0; i < bytes.size() / 2; ++i)
    many.Prefetch(Side::kGpu, Stream::Main(*f.device), {2 * i, 1});
  CHECK(Total(ledger, &LedgerEntry::pending) == 64);
}

}  // namespace
}  // namespace ferry::testing
