// SPDX-License-Identifier: BSD-2-Clause
// A ledger keeps so many entries, and sums the smallest.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <string>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A ledger's memory is bounded: what has the least bytes is summed by kind") {
  LedgerFixture f;
  const Ledger ledger;
  const auto memories =
      GENERATE(std::uint64_t{2000}, 5000);  // with three entries each; labels are bounded, too
  const auto move = [&](std::size_t bytes, const std::string& label) {
    SyncedMemory memory(bytes, *f.device, label);
    memory.overwrite_cpu_data(), memory.gpu_data();
  };
  SyncedMemory alive(4, *f.device, "alive");
  alive.overwrite_gpu_data();
  move(4000, "large and early");
  for (std::uint64_t i = 2; i < memories; ++i) move(4, std::to_string(i));
  move(4000, "large and late");
  alive.cpu_data();
  const auto entries = ledger.Entries();
  for (const char* const label : {"large and early", "large and late", "alive"})
    CHECK(std::count_if(entries.begin(), entries.end(), [&](const LedgerEntry& entry) {
            return entry.label == label && entry.kind == LedgerKind::kCopy && entry.asked;
          }) == 1);
  CHECK_THAT(ledger.Table(Ledger::kAllRows),
             ContainsSubstring("  several copies ") && ContainsSubstring("  several allocations "));
  CHECK(entries.size() <= 4096 + 5);
  std::uint64_t allocations = 0;
  for (const LedgerEntry& entry : entries)
    allocations += entry.kind == LedgerKind::kAllocation ? entry.count : 0;
  CHECK(allocations == 2 * memories + 2);
}

TEST_CASE("What a ledger has summed counts anew") {
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory again(4, *f.device, "again"), other(40, *f.device);
  for (int part = 0; part < 2; ++part) {
    again.overwrite_cpu_data();
    again.gpu_data();
    for (int i = 0; i < 5000; ++i) {
      other.set_label(std::to_string(part * 5000 + i));
      other.overwrite_cpu_data();
      other.gpu_data();
    }
  }
  std::uint64_t copies = 0;
  for (const LedgerEntry& entry : ledger.Entries())
    copies += entry.kind == LedgerKind::kCopy ? entry.count : 0;
  CHECK(copies == 2 + 10'000);
}

TEST_CASE("What a ledger has summed is neither in vain nor pending") {
  LedgerFixture f;
  Ledger ledger;
  SyncedMemory large(4000, *f.device, "large"), x(40, *f.device, "first");
  large.overwrite_cpu_data();
  Fetch(large, Side::kGpu);
  x.overwrite_cpu_data();
  Fetch(x, Side::kGpu);
  for (int i = 0; i < 5000; ++i) {
    x.set_label("x" + std::to_string(i));
    x.overwrite_cpu_data();
    Fetch(x, Side::kGpu);
  }
  const auto unread = Total(ledger, &LedgerEntry::unread), pending = Total(ledger, &LedgerEntry::pending);
  x.overwrite_cpu_data();
  Fetch(x, Side::kGpu);
  CHECK(Total(ledger, &LedgerEntry::pending) == pending);
  large.gpu_data();  // untold
  ledger.CountPendingAsUnread();
  x.overwrite_cpu_data();
  CHECK(Total(ledger, &LedgerEntry::unread) == unread);
}

TEST_CASE("The first wait for a device may be the entry that is one too many") {
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory memory(4, *f.device, "x");
  memory.overwrite_cpu_data();
  for (int line = 1; line <= 1365; ++line)  // of each, a copy, an allocation and an eviction
    memory.Prefetch(Side::kGpu, Stream::Main(*f.device), {}, Site::Caller("a.cpp", line, "Read")),
        memory.Release(Side::kGpu, Site::Caller("a.cpp", line, "Evict"));
  REQUIRE(ledger.Entries().size() == 4096);
  Stream::Main(*f.device).Synchronize(Site::Caller("b.cpp", 1, "Wait"));
  const auto entries = ledger.Entries();
  const auto wait = std::find_if(entries.begin(), entries.end(), [](const LedgerEntry& entry) {
    return entry.asked && std::string(entry.asked->file()) == "b.cpp";
  });
  REQUIRE(wait != entries.end());
  CHECK((wait->label.empty() && !wait->made));
}

TEST_CASE("Nor does a ledger keep the labels of what is beyond its bound") {
  LedgerFixture f;
  const Ledger ledger;
  const auto name = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      SyncedMemory memory(4, *f.device, std::to_string(i) + std::string(1000, ' '));
      memory.overwrite_cpu_data();
    }
    return mallinfo2().uordblks;
  };
  const std::size_t full = name(0, 5000), later = name(5000, 25'000);
  CHECK(later < full + 10'000'000);  // the labels have twice that
  const Stream main = Stream::Main(*f.device);
  void* const given = f.device->Allocate(MemoryKind::kDevice, 4, main.handle());
  for (int i = 0; i < 20'000; ++i)  // which makes no entry
    SyncedMemory(4, *f.device, std::to_string(i) + std::string(1000, '-')).set_gpu_data(given, main);
  CHECK(mallinfo2().uordblks < later + 10'000'000);
  f.device->Deallocate(MemoryKind::kDevice, given, 4, main.handle());
}

}  // namespace
}  // namespace ferry::testing
