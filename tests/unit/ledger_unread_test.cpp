// SPDX-License-Identifier: BSD-2-Clause
// Which Prefetches a ledger knows to have been in vain.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

void Fetch(const SyncedMemory& memory, Side side) { memory.Prefetch(side, Stream::Main(memory.device())); }

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

/// Counts the copies in vain that it is told of.
struct InVain : Observer {
  using Observer::On;
  void On(const UnreadRecord&) override { ++count; }
  int count = 0;
};

TEST_CASE("Of a copy in vain those are told who were there from the copy on, whoever else came and went") {
  LedgerFixture f;
  SyncedMemory x(40, *f.device, "x");
  const auto all = std::make_shared<InVain>(), before = std::make_shared<InVain>(),
             after = std::make_shared<InVain>();
  std::optional<Watch> goes(before);
  {
    const Watch stays(all);
    x.overwrite_cpu_data();
    Fetch(x, Side::kGpu);
    const Watch comes(after);
    goes.reset();
    x.overwrite_cpu_data();
    Fetch(x, Side::kGpu);
  }
  x.gpu_data();  // unseen
  const auto later = std::make_shared<InVain>();
  const Watch comes(later);
  x.overwrite_cpu_data();
  CHECK((all->count == 1 && before->count == 0 && after->count == 0 && later->count == 0));
}

TEST_CASE("Who comes right after a copy was told is not told that it was in vain") {
  struct Leaves : Observer {
    explicit Leaves(std::function<void()> at_end) : then(std::move(at_end)) {}
    ~Leaves() override { then(); }
    using Observer::On;
    void On(const CopyRecord&) override { watch.reset(); }
    std::optional<Watch> watch;
    std::function<void()> then;
  };
  LedgerFixture f;
  const auto stays = std::make_shared<InVain>(), comes = std::make_shared<InVain>();
  const Watch watch(stays);
  std::optional<Watch> late;
  {
    auto leaves = std::make_shared<Leaves>([&] { late.emplace(comes); });
    Leaves& it = *leaves;
    it.watch.emplace(std::move(leaves));  // which is alone to have it
  }
  SyncedMemory x(40, *f.device, "x");
  x.overwrite_cpu_data();
  Fetch(x, Side::kGpu);
  REQUIRE(late);
  x.overwrite_cpu_data();
  CHECK((stays->count == 1 && comes->count == 0));
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
             ContainsSubstring("\"x\" copied to sim:0 by the Prefetch in Fetch (ledger_unread_test.cpp:") &&
                 ContainsSubstring("before anybody read it there, once of 3"));
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

}  // namespace
}  // namespace ferry::testing
