// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ledger_fixture.hpp"
#include "tests/folder.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("A ledger sums copies by memory and pair of sites, those with the most bytes first") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> small({2}, *f.device), large({100}, *f.device);
  small.set_name("small"), large.set_name("large");
  for (int i = 0; i < 3; ++i) Norm(small), Step(small);
  Norm(large), Step(large);
  const auto entries = ledger.Entries();
  std::vector<LedgerEntry> copies;
  for (const LedgerEntry& entry : entries)
    if (entry.kind == LedgerKind::kCopy) copies.push_back(entry);
  REQUIRE(copies.size() == 2);
  CHECK(copies[0].label == "large");
  CHECK(copies[0].bytes == 400);
  CHECK(copies[0].count == 1);
  CHECK(copies[1].label == "small");
  CHECK(copies[1].bytes == 24);
  CHECK(copies[1].count == 3);
  CHECK(copies[1].from == "the host");
  CHECK(copies[1].to == "sim:0");
  CHECK(std::string(copies[1].written->site.function()) == "Norm");
  CHECK(std::string(copies[1].asked->function()) == "Step");
}

/// Blobs that nobody names.
std::unique_ptr<Blob<float>> MakeWeight(Device& device) {
  return std::make_unique<Blob<float>>(Shape{100}, device, Site::Caller("a.cpp", 12, "MakeWeight"));
}

TEST_CASE("Memories without a label are told apart by the lines that made them") {
  LedgerFixture f;
  auto before = MakeWeight(*f.device);
  const Ledger ledger;
  const auto first = MakeWeight(*f.device), second = MakeWeight(*f.device);
  Blob<float> other({10}, *f.device, Site::Caller("b.cpp", 7, "main")), named({1}, *f.device);
  named.set_name("named");
  for (Blob<float>* const blob : {before.get(), first.get(), second.get(), &other, &named})
    Norm(*blob), Step(*blob);
  std::vector<LedgerEntry> copies;
  for (const LedgerEntry& entry : ledger.Entries())
    if (entry.kind == LedgerKind::kCopy) copies.push_back(entry);
  REQUIRE(copies.size() == 4);
  CHECK((copies[0].made && copies[0].count == 2 && copies[0].bytes == 800));
  CHECK((!copies[1].made && copies[1].label.empty() && copies[1].bytes == 400));  // its begin was not seen
  CHECK((copies[2].made && copies[2].bytes == 40 && std::string(copies[2].made->file()) == "b.cpp"));
  CHECK((!copies[3].made && copies[3].label == "named"));
  const std::string table = ledger.Table(), json = ledger.Json();
  CHECK_THAT(table, ContainsSubstring("made by MakeWeight (a.cpp:12)"));
  CHECK_THAT(table, ContainsSubstring("made by main (b.cpp:7)"));
  CHECK_THAT(json,
             ContainsSubstring(
                 R"("label": "", "made": {"file": "a.cpp", "line": 12, "function": "MakeWeight"}, "from")"));
}

TEST_CASE("Lines whose hashes are equal are told apart, too") {
  static constexpr char kFiles[] = "ba.cpp";  // a hash has the sum of a file's address and the line
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory one(10, *f.device, "", Site::Caller(kFiles, 8, "Make"));
  SyncedMemory other(10, *f.device, "", Site::Caller(kFiles + 1, 7, "Make"));
  for (SyncedMemory* const memory : {&one, &other}) memory->mutable_cpu_data();
  std::map<int, std::uint64_t> allocations;
  for (const LedgerEntry& entry : ledger.Entries()) allocations[entry.made->line()] += entry.count;
  CHECK(allocations == std::map<int, std::uint64_t>{{7, 2}, {8, 2}});
}

TEST_CASE("A memory that loses its label is told by its line from then on") {
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory memory(64, *f.device, "x", Site::Caller("a.cpp", 12, "Make"));
  memory.mutable_cpu_data(), memory.gpu_data();
  memory.set_label("");
  memory.mutable_cpu_data(), memory.gpu_data();
  std::map<std::string, int> copies;
  for (const LedgerEntry& entry : ledger.Entries())
    if (entry.kind == LedgerKind::kCopy)
      ++copies[entry.made ? std::string("made in ") + entry.made->file() : entry.label];
  CHECK(copies == std::map<std::string, int>{{"made in a.cpp", 1}, {"x", 1}});
}

TEST_CASE("A ledger counts fills, allocations, evictions and waits") {
  LedgerFixture f;
  const Ledger ledger;
  {
    SyncedMemory memory(40, *f.device, "x");
    memory.gpu_data();
    memory.mutable_gpu_data();
    memory.cpu_data();
    memory.Release(Side::kGpu);
  }
  const auto entries = ledger.Entries();
  REQUIRE(Find(entries, LedgerKind::kFill) != nullptr);
  CHECK(Find(entries, LedgerKind::kFill)->bytes == 40);
  REQUIRE(Find(entries, LedgerKind::kAllocation) != nullptr);
  REQUIRE(Find(entries, LedgerKind::kEviction) != nullptr);
  CHECK(Find(entries, LedgerKind::kEviction)->to == "sim:0");
  REQUIRE(Find(entries, LedgerKind::kWait) != nullptr);
  CHECK(Find(entries, LedgerKind::kWait)->count == 1);
  CHECK(Find(entries, LedgerKind::kWait)->bytes == 40);
  for (const char* kind : {"fill", "wait"}) {  // are for somebody who asked for the bytes
    const std::string json = ledger.Json();
    const std::string entry = json.substr(json.find(std::string("\"kind\": \"") + kind));
    CHECK_THAT(entry.substr(0, entry.find('\n')), ContainsSubstring("\"asked_as\": \"read\""));
  }
}

TEST_CASE("Bytes that a program gives are not allocated, and a Release evicts them") {
  LedgerFixture f;
  const Ledger ledger;
  void* const there = f.device->Allocate(MemoryKind::kDevice, 40, f.device->properties().main_stream);
  SyncedMemory memory(40, *f.device, "x");
  memory.set_gpu_data(there);
  CHECK(Find(ledger.Entries(), LedgerKind::kAllocation) == nullptr);
  memory.Release(Side::kGpu);
  const auto entries = ledger.Entries();
  REQUIRE(Find(entries, LedgerKind::kEviction) != nullptr);
  CHECK(Find(entries, LedgerKind::kEviction)->bytes == 40);
  f.device->Deallocate(MemoryKind::kDevice, there, 40, f.device->properties().main_stream);
}

TEST_CASE("What a Release brings home is its own, and no prefetch") {
  LedgerFixture f;
  const Ledger ledger;
  SyncedMemory memory(40, *f.device, "x");
  memory.overwrite_gpu_data();
  memory.Release(Side::kGpu);
  const auto entries = ledger.Entries();
  const LedgerEntry* const copy = Find(entries, LedgerKind::kCopy);
  REQUIRE(copy != nullptr);
  CHECK(copy->purpose == Purpose::kRelease);
  CHECK_THAT(ledger.Table(), ContainsSubstring(") release"));
  const std::string json = ledger.Json();
  const auto as = json.find("\"asked_as\"");
  CHECK_THAT(json.substr(as), StartsWith("\"asked_as\": \"release\""));
  CHECK(json.find("\"asked_as\"", as + 1) == std::string::npos);  // of lines that allocate or give back
}

TEST_CASE("Devices are told apart by what they are called, though one comes to where another has been") {
  sim::Reset({.seed = 1, .devices = 2});
  const Ledger ledger;
  for (const char* name : {"sim:0", "sim:1"}) {
    const auto device = MakeDevice(name);
    SyncedMemory memory(40, *device, "x");
    memory.overwrite_cpu_data();
    memory.gpu_data();
  }
  std::map<std::string, std::uint64_t> copies;
  for (const LedgerEntry& entry : ledger.Entries())
    if (entry.kind == LedgerKind::kCopy) copies[entry.to] += entry.count;
  CHECK(copies == std::map<std::string, std::uint64_t>{{"sim:0", 1}, {"sim:1", 1}});
}

TEST_CASE("A table has a line for each entry, and says how many it leaves out") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({100}, *f.device);
  blob.set_name("x");
  Norm(blob), Step(blob);
  const std::string table = ledger.Table();
  CHECK_THAT(table, ContainsSubstring("made stale by") && ContainsSubstring("400 B") &&
                        ContainsSubstring("the host to sim:0") && ContainsSubstring("mutable"));
  const std::string short_table = ledger.Table(1);  // of each kind
  CHECK_THAT(short_table, ContainsSubstring(" more\n") && ContainsSubstring(" to ") &&
                              ContainsSubstring("allocation on "));
}

TEST_CASE("A ledger is written as JSON or as a table, and where it can't be, the error says which file") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({2}, *f.device);
  blob.set_name("a \"b\"\n");
  Norm(blob), Step(blob);
  const Folder folder;
  ledger.Write((folder / "l.json").string());
  std::stringstream json;
  json << std::ifstream(folder / "l.json").rdbuf();
  CHECK_THAT(json.str(),
             ContainsSubstring(R"("label": "a \"b\"\u000a")") && ContainsSubstring(R"("function": "Step")"));
  ledger.Write((folder / "l.txt").string());
  CHECK(std::filesystem::file_size(folder / "l.txt") > 0);
  try {
    ledger.Write((folder / "none/l.txt").string());
    FAIL("wrote to no folder");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("none/l.txt"));
  }
  if (std::filesystem::exists("/dev/full")) CHECK_THROWS_AS(ledger.Write("/dev/full"), Error);
}

TEST_CASE("A row of a table is one line, whatever is in a label") {
  LedgerFixture f;
  const Ledger ledger;
  Blob<float> blob({100}, *f.device);
  blob.set_name("a \"b\"\n\xFF");
  for (int i = 0; i < 3; ++i) Grow(blob), GrowThere(blob);
  CHECK_THAT(ledger.Table(), ContainsSubstring(R"(  a \"b\"\u000a\ufffd  )"));
  CHECK_THAT(ledger.Advice().at(0), ContainsSubstring(R"("a \"b\"\u000a\ufffd" went back)"));
}

}  // namespace
}  // namespace ferry::testing
