// SPDX-License-Identifier: BSD-2-Clause
// What a ledger proves to be needless.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <vector>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("Who asks for bytes mutable and writes none is told so, where the ledger verifies") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Blob<float> blob({100}, *f.device);
  blob.set_name("weight7");
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
  Norm(unwritten), Step(unwritten);
  CHECK(does_not.Advice().empty());
  CHECK(verifies.Advice().size() == 1);
}

TEST_CASE("What a device writes meanwhile is nothing that the host asked for and did not write") {
  LedgerFixture f;
  const Ledger ledger(Ledger::Detail::kVerify);
  Blob<float> blob({100}, *f.device);
  Norm(blob);
  blob.mutable_gpu_data();
  blob.cpu_data();
  blob.data()->Release(Side::kGpu);
  Step(blob);
  std::uint64_t copies = 0, unwritten = 0;
  for (const LedgerEntry& entry : ledger.Entries())
    if (entry.kind == LedgerKind::kCopy) copies += entry.count, unwritten += entry.unwritten;
  CHECK(copies == 3);
  CHECK(unwritten == 1);  // that of Norm's
}

TEST_CASE("Two sites that write in turn at two places are told so") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({100}, *f.device);
  blob.set_name("x");
  for (int i = 0; i < 3; ++i) Grow(blob), GrowThere(blob);
  CHECK_THAT(Joined(ledger.Advice()), ContainsSubstring("\"x\" went back and forth 2 times") &&
                                          ContainsSubstring("Grow (") && ContainsSubstring("GrowThere ("));
}

TEST_CASE("A site that only reads does not write in turn, though another one writes where it reads") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> there({100}, *f.device), here({100}, *f.device);
  for (int i = 0; i < 3; ++i) Grow(there), Step(there), GrowThere(there);
  for (int i = 0; i < 3; ++i) GrowThere(here), Look(here), Grow(here);
  CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("back and forth"));
}

TEST_CASE("Only between two places, and of the same bytes, does a memory go back and forth") {
  sim::Reset({.seed = 1, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Place cpu = Place::Cpu(*first), one(*first), two(*second);
  const auto grow = [](const Place& place, auto&& x) { Scale(place, 2.0F, x); };
  const auto grow_too = [](const Place& place, auto&& x) { Scale(place, 2.0F, x); };
  const Ledger ledger;
  Array<float> devices(100, *first), places(100, *first), parts(300, *first);
  for (int i = 0; i < 3; ++i) grow(one, devices), grow_too(two, devices);  // by way of the host
  for (int i = 0; i < 3; ++i) grow(cpu, places), grow(one, places), grow(two, places);
  for (std::int64_t i = 0; i < 3; ++i) {  // there with one part, and back with the next one
    grow(cpu, parts.Slice(100 * i, 50)), grow_too(one, parts.Slice(100 * i, 50));
    grow_too(one, parts.Slice(100 * i + 50, 50)), grow(cpu, parts.Slice(100 * i + 50, 50));
  }
  CHECK_THAT(Joined(ledger.Advice()), !ContainsSubstring("back and forth"));
}

TEST_CASE("Copies from bytes that were given are told to be pageable") {
  LedgerFixture f;
  const Ledger ledger;
  std::vector<float> given(100);
  Blob<float> blob({100}, *f.device);
  blob.set_cpu_data(given.data());
  Step(blob);
  CHECK_THAT(Joined(ledger.Advice()),
             ContainsSubstring("copied once, 400 B, from bytes that the program gave"));
}

}  // namespace
}  // namespace ferry::testing
