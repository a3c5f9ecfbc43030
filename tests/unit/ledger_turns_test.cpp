// SPDX-License-Identifier: BSD-2-Clause
// Which memories a ledger says go back and forth.
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

TEST_CASE("Two sites that write in turn at two places are told so, once for both directions") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({100}, *f.device);
  blob.set_name("x");
  Grow(blob), GrowThere(blob), Grow(blob), GrowThere(blob);
  CHECK_THAT(Joined(ledger.Advice()),
             !ContainsSubstring("back and forth"));  // once there and back is a round
  Grow(blob), GrowThere(blob);
  const auto advice = ledger.Advice();
  CHECK(std::count_if(advice.begin(), advice.end(), [](const std::string& line) {
          return line.find("back and forth") != std::string::npos;
        }) == 1);
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("\"x\" went back and forth 2 times") && ContainsSubstring("Grow (") &&
                 ContainsSubstring("GrowThere (") &&
                 ContainsSubstring(" ask for it in turn, to write it; at one place they need no "
                                   "copy, unless other lines write it in place"));
}

TEST_CASE("Memories that went there and back once each have not gone back and forth together") {
  LedgerFixture f;
  const Ledger ledger;
  for (int i = 0; i < 3; ++i) {
    Blob<float> blob({100}, *f.device);
    blob.set_name("x");
    Grow(blob), GrowThere(blob), Grow(blob), GrowThere(blob);
  }
  CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("back and forth"));
}

TEST_CASE("Each return counts once there are two of a direction") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({100}, *f.device);
  for (int i = 0; i < 6; ++i) Grow(blob), GrowThere(blob);
  CHECK(Total(ledger, &LedgerEntry::returned) == 10);  // of eleven copies
}

TEST_CASE("A memory that gets another name while it goes back and forth has no more returns than copies") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({100}, *f.device);
  for (const char* const name : {"a", "a", "b"}) {
    blob.set_name(name);
    Grow(blob), GrowThere(blob);
  }
  for (const LedgerEntry& entry : ledger.Entries()) CHECK(entry.returned <= entry.count);
  CHECK(Total(ledger, &LedgerEntry::returned) == 2);
}

TEST_CASE("A site that asks for bytes mutable and does not write them does not write in turn") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Blob<float> blob({100}, *f.device);
  Grow(blob);
  for (int i = 0; i < 4; ++i) GrowThere(blob), blob.mutable_cpu_data();
  GrowThere(blob);
  CHECK_THAT(Joined(ledger.Advice()), ContainsSubstring("asked for it mutable, then GrowThere (") &&
                                          ContainsSubstring(" asked for it mutable on sim:0; read-only") &&
                                          !ContainsSubstring("back and forth"));
  for (const LedgerEntry& entry : ledger.Entries()) CHECK(entry.returned == 0);
}

TEST_CASE("A site that only reads does not write in turn, though another one writes where it reads") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> there({100}, *f.device), here({100}, *f.device);
  for (int i = 0; i < 3; ++i) Grow(there), Step(there), GrowThere(there);
  for (int i = 0; i < 3; ++i) GrowThere(here), Look(here), Grow(here);
  CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("back and forth"));
}

TEST_CASE("Four lines that write in turn are no two that do") {
  LedgerFixture f;
  const Ledger ledger;
  Array<float> x(100, *f.device);
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  for (int i = 0; i < 3; ++i) {
    Scale(cpu, 2.0F, x);
    Scale(gpu, 2.0F, x);
    Scale(cpu, 2.0F, x);
    Scale(gpu, 2.0F, x);
  }
  CHECK(Total(ledger, &LedgerEntry::returned) == 0);
}

TEST_CASE("Two lines that write in turn are not told to where others write in place at their places") {
  LedgerFixture f;
  const bool here = GENERATE(false, true);
  const Ledger ledger(Ledger::Detail::kVerify);
  Array<float> x(100, *f.device);
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  Set(cpu, 1.0F, x);
  for (int i = 0; i < 4; ++i) {
    Scale(cpu, 2.0F, x);
    if (here) Scale(cpu, 3.0F, x);
    Scale(gpu, 0.5F, x);
    if (!here) Scale(gpu, 1.5F, x);
  }
  CHECK(Total(ledger, &LedgerEntry::returned) == 0);
}

TEST_CASE("Two lines that write in turn are told so though they write twice, and others write other bytes") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Array<float> x(100, *f.device);
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  const auto grow = [&] { Scale(cpu, 2.0F, x.Slice(0, 50)); };
  const auto grow_there = [&] { Scale(gpu, 3.0F, x.Slice(0, 50)); };
  Set(cpu, 1.0F, x);
  for (int i = 0; i < 4; ++i) {
    grow(), grow();
    Scale(cpu, 2.0F, x.Slice(50, 50));
    grow_there(), grow_there();
  }
  CHECK(Total(ledger, &LedgerEntry::returned) == 5);  // of seven copies: before the first, Set had written
}

TEST_CASE("A line that writes in turn does so though it also writes in place where the other one does") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Array<float> x(100, *f.device);
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  const auto grow = [&](const Place& place) { Scale(place, 2.0F, x); };
  const auto grow_there = [&] { Scale(gpu, 3.0F, x); };
  Set(cpu, 1.0F, x);
  for (int i = 0; i < 4; ++i) grow(cpu), grow_there(), grow(gpu);
  CHECK(Total(ledger, &LedgerEntry::returned) == 5);  // of seven copies
}

TEST_CASE("Only between two places, and of the same bytes, does a memory go back and forth") {
  sim::Reset({.seed = 1, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Place cpu = Place::Cpu(*first), one(*first), two(*second);
  const auto grow = [](const Place& place, auto&& x) { Scale(place, 2.0F, x); };
  const auto grow_too = [](const Place& place, auto&& x) { Scale(place, 2.0F, x); };
  const Ledger ledger;
  Array<float> devices(100, *first), places(100, *first), by_one(100, *first), parts(300, *first);
  for (int i = 0; i < 3; ++i) grow(one, devices), grow_too(two, devices);  // by way of the host
  for (int i = 0; i < 9; ++i) grow(cpu, places), grow(one, places), grow(two, places);
  for (int i = 0; i < 9; ++i) grow(cpu, by_one), grow(one, by_one);
  for (std::int64_t i = 0; i < 3; ++i) {  // there with one part, and back with the next one
    grow(cpu, parts.Slice(100 * i, 50)), grow_too(one, parts.Slice(100 * i, 50));
    grow_too(one, parts.Slice(100 * i + 50, 50)), grow(cpu, parts.Slice(100 * i + 50, 50));
  }
  CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("back and forth"));
}

}  // namespace
}  // namespace ferry::testing
