// SPDX-License-Identifier: BSD-2-Clause
// Waits of the host that are for no access's bytes, and copies that stay in one space.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

std::vector<LedgerEntry> Waits(const Ledger& ledger) {
  std::vector<LedgerEntry> waits;
  for (LedgerEntry& entry : ledger.Entries())
    if (entry.kind == LedgerKind::kWait) waits.push_back(std::move(entry));
  return waits;
}

void Finish(const Stream& stream) { stream.Synchronize(); }
void FinishTo(const Event& point) { point.HostWait(); }

TEST_CASE("A wait that the program makes for a stream or an event is of the device, and of its line") {
  LedgerFixture f;
  const Stream stream(*f.device);
  const Event point(stream);
  const Ledger ledger;
  for (int i = 0; i < 3; ++i) Finish(stream);
  FinishTo(point);
  const auto waits = Waits(ledger);
  REQUIRE(waits.size() == 2);
  for (const LedgerEntry& wait : waits) {
    const bool of_stream = wait.asked->function() == std::string("Finish");
    CHECK((of_stream || wait.asked->function() == std::string("FinishTo")));
    CHECK(wait.count == (of_stream ? 3U : 1U));
    CHECK(wait.to == "sim:0");
    CHECK(wait.label.empty());
    CHECK(wait.took_ns > 0);
    CHECK(wait.took_ns < 60'000'000'000);  // and not since the clock began
  }
  CHECK_THAT(ledger.Table(), ContainsSubstring("wait of the host for sim:0  -") &&
                                 ContainsSubstring("Finish (ledger_wait_test.cpp:") &&
                                 !ContainsSubstring(") read"));
  CHECK_THAT(ledger.Json(), ContainsSubstring(R"("kind": "wait", "label": "", "to": "sim:0", "asked": )") &&
                                !ContainsSubstring("asked_as"));
}

TEST_CASE("Of a wait that fails nothing is counted, and of none before the ledger") {
  sim::Reset({.seed = 1, .fail_at = 2, .fail_call = "StreamSynchronize"});
  const auto device = MakeDevice("sim:0");
  const Stream main = Stream::Main(*device);
  Finish(main);
  const Ledger ledger;
  CHECK_THROWS_AS(Finish(main), DeviceError);
  CHECK(Waits(ledger).empty());
}

TEST_CASE("An observer's own waits are not told") {
  struct Waits : Observer {
    explicit Waits(const Stream& stream) : on(stream) {}
    using Observer::On;
    void On(const SyncRecord&) override { ++count, on.Synchronize(); }
    Stream on;
    int count = 0;
  };
  LedgerFixture f;
  const Stream main = Stream::Main(*f.device);
  const auto waits = std::make_shared<Waits>(main);
  const Watch watch(waits);
  Finish(main);
  CHECK(waits->count == 1);
}

TEST_CASE("Times by the device's clock wait for it, too") {
  LedgerFixture f;
  const Stream main = Stream::Main(*f.device);
  const Event from = Event::Measuring(main), to = Event::Measuring(main);
  const Ledger ledger;
  static_cast<void>(Elapsed(from, to));
  Overlap overlap(*f.device);
  overlap.End();
  const auto waits = Waits(ledger);
  REQUIRE(waits.size() == 2);
  for (const LedgerEntry& wait : waits) CHECK((wait.count == 1 && wait.to == "sim:0"));
}

void SumThere(const Place& place, const Array<float>& x) { static_cast<void>(Asum(place, x)); }

TEST_CASE("A call that returns what a GPU computes waits, for its first operand; on the CPU none does") {
  LedgerFixture f;
  Array<float> x(16, *f.device, "x"), y(16, *f.device, "y");
  const auto waits = [&](const Place& place) {
    Set(place, 1.0F, x), Set(place, 1.0F, y);
    const Ledger ledger;
    SumThere(place, x), Axpy(place, 2.0F, x, y);
    return Waits(ledger);
  };
  const auto on_gpu = waits(Place(*f.device));
  REQUIRE(on_gpu.size() == 1);
  CHECK((on_gpu[0].label == "x" && on_gpu[0].count == 1 && on_gpu[0].took_ns > 0));
  CHECK(on_gpu[0].asked->function() == std::string("SumThere"));
  CHECK(waits(Place::Cpu(*f.device)).empty());
}

TEST_CASE("A call on a device whose kernels run at once waits for nothing") {
  Device& host = GetDevice("host");
  Array<float> x(16, host, "x");
  const Ledger ledger;
  Set(Place(host), 1.0F, x);
  SumThere(Place(host), x);
  CHECK(Waits(ledger).empty());
}

TEST_CASE("A memory whose end waits for a copy of the host's bytes has waited, and no other") {
  LedgerFixture f;
  const Ledger ledger;
  {
    SyncedMemory used(64, *f.device, "used"), unused(64, *f.device, "unused");
    unused.mutable_cpu_data();
    used.mutable_cpu_data(), used.gpu_data();
  }
  const auto waits = Waits(ledger);
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].label == "used");
  CHECK(waits[0].count == 1);
  CHECK(waits[0].took_ns > 0);
  CHECK(!waits[0].asked);
  CHECK_THAT(ledger.Table(),
             ContainsSubstring("wait of the host        used") && ContainsSubstring("  its end\n"));
}

void Give(SyncedMemory& memory, void* bytes) { memory.set_cpu_data(bytes); }

TEST_CASE("Bytes that are given wait for a copy of those that they replace, and for nothing else") {
  LedgerFixture f;
  const Stream main = Stream::Main(*f.device);
  std::array<char, 64> given{};
  void* const there = f.device->Allocate(MemoryKind::kDevice, 64, main.handle());
  {
    SyncedMemory x(64, *f.device, "x"), y(64, *f.device, "y");
    const Ledger ledger;
    x.mutable_cpu_data();
    Give(x, given.data());
    y.mutable_gpu_data();
    y.set_gpu_data(there, main);  // in the stream's order
    CHECK(Waits(ledger).empty());
    SyncedMemory z(64, *f.device, "z");
    z.mutable_cpu_data(), z.gpu_data();
    Give(z, given.data());
    const auto waits = Waits(ledger);
    REQUIRE(waits.size() == 1);
    CHECK(waits[0].label == "z");
    CHECK(waits[0].took_ns > 0);
    CHECK(waits[0].asked->function() == std::string("Give"));
  }
  f.device->Deallocate(MemoryKind::kDevice, there, 64, main.handle());
}

TEST_CASE("A copy that stays in one space is told with that space, where it was and who asked for it") {
  LedgerFixture f;
  const Ledger ledger;
  Array<float> from(16, *f.device, "from"), to(16, *f.device, "to");
  const bool on_gpu = GENERATE(false, true);
  const Place place = on_gpu ? Place(*f.device) : Place::Cpu(*f.device);
  Set(place, 1.0F, from);
  for (int i = 0; i < 2; ++i) Copy(place, from, to);
  const auto entries = ledger.Entries();
  const LedgerEntry* const copy = Find(entries, LedgerKind::kCopy);
  REQUIRE(copy != nullptr);
  CHECK(copy->label == "to");
  CHECK(copy->from == (on_gpu ? "sim:0" : "the host"));
  CHECK(copy->to == copy->from);
  CHECK(copy->count == 2);
  CHECK(copy->bytes == 128);
  CHECK(copy->asked->file() == std::string(__FILE__));
  CHECK(copy->access == Access::kOverwrite);
  CHECK(copy->took_ns > 0);
  CHECK(Total(ledger, &LedgerEntry::returned) == 0);
  CHECK_THAT(ledger.Table(), ContainsSubstring(on_gpu ? "within sim:0  " : "within the host  "));
  CHECK(ledger.Advice().empty());
}

}  // namespace
}  // namespace ferry::testing
