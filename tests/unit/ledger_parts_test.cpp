// SPDX-License-Identifier: BSD-2-Clause
// What a ledger knows of parts of a memory that are asked for one after the other.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/seeing/held_bytes.hpp"
#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A memory of some parts, which the host has written.
struct Parted : LedgerFixture {
  explicit Parted(std::size_t count) : memory(kBytes * count, *device, "parts") {
    memory.overwrite_cpu_data();
    for (std::size_t i = 0; i < count; ++i) parts.push_back({kBytes * i, kBytes});
  }
  void Norm(bool writes = false) {
    for (const ByteRange part : parts) {
      auto* const bytes = static_cast<std::byte*>(memory.mutable_cpu_data(part));
      if (writes) bytes[0] ^= std::byte{1};
    }
  }
  void Step() {
    for (const ByteRange part : parts) memory.gpu_data(part, main);
  }
  void GrowThere() {
    for (const ByteRange part : parts) memory.mutable_gpu_data(part, main);
  }

  static constexpr std::size_t kBytes = 40;
  SyncedMemory memory;
  std::vector<ByteRange> parts;
  Stream main = Stream::Main(*device);
};

TEST_CASE("A line that asks for parts mutable, one after the other, and writes none is told of all copies") {
  Parted f(4);
  const Ledger ledger(Ledger::Detail::kVerify);
  f.memory.gpu_data();
  for (int i = 0; i < 3; ++i) f.Norm(), f.Step();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 12);
  CHECK_THAT(Joined(ledger.Advice()), ContainsSubstring("\"parts\" copied 12 times") &&
                                          ContainsSubstring("read-only access would save all of them"));
  f.Norm(true), f.Step();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 12);
}

TEST_CASE("Of parts that go to two devices, each is told that came in vain") {
  sim::Reset({.seed = 1, .devices = 2});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  SyncedMemory memory(80, *first, "parts");
  const Stream on_first = Stream::Main(*first), on_second = Stream::Main(*second);
  memory.overwrite_cpu_data();
  const Ledger ledger(Ledger::Detail::kVerify);
  for (int i = 0; i < 4; ++i) {
    memory.mutable_cpu_data({0, 40}), memory.mutable_cpu_data({40, 40});
    memory.gpu_data({0, 40}, on_first), memory.gpu_data({40, 40}, on_second);
  }
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 6);  // of eight: the first two had to be copied
}

TEST_CASE("Who writes a part leaves the other bytes that a device has") {
  Parted f(3);
  const Ledger ledger(Ledger::Detail::kVerify);
  f.memory.gpu_data();
  f.memory.mutable_cpu_data(f.parts[1]), f.memory.gpu_data(f.parts[1], f.main);
  f.memory.mutable_cpu_data({0, 120}), f.memory.gpu_data({0, 120}, f.main);
  f.memory.overwrite_cpu_data(f.parts[1]);
  f.memory.mutable_cpu_data(f.parts[0]), f.memory.gpu_data(f.parts[0], f.main);
  f.memory.mutable_cpu_data(f.parts[2]), f.memory.gpu_data(f.parts[2], f.main);
  f.memory.mutable_cpu_data(f.parts[1]), f.memory.gpu_data(f.parts[1], f.main);  // the device has lost it
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 4);
}

TEST_CASE("What a line asked for and another one wrote a part of is not told to be unwritten") {
  Parted f(2);
  const Ledger ledger(Ledger::Detail::kVerify);
  f.memory.gpu_data();
  f.memory.mutable_cpu_data();
  f.memory.overwrite_cpu_data(f.parts[1]);
  f.memory.gpu_data();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
}

TEST_CASE("Parts that two lines write in turn go back and forth, each for itself; of 33, all but two") {
  for (const auto& [parts, followed] : {std::pair(4, 4), std::pair(33, 31)}) {
    CAPTURE(parts);
    Parted f(static_cast<std::size_t>(parts));
    f.GrowThere();
    const Ledger ledger;
    for (int i = 0; i < 3; ++i) f.Norm(true), f.GrowThere();
    CHECK(Total(ledger, &LedgerEntry::returned) == 4U * static_cast<unsigned>(followed));  // of six each
    CHECK_THAT(Joined(ledger.Advice()), ContainsSubstring("back and forth"));
  }
}

TEST_CASE("A part of what goes back and forth, or more than that, is no return of it") {
  Parted f(2);
  f.GrowThere();
  const Ledger ledger;
  for (int i = 0; i < 6; ++i) {
    const ByteRange range = i % 2 == 0 ? f.parts[0] : ByteRange{0, 80};
    f.memory.mutable_cpu_data(range);
    f.memory.mutable_gpu_data(range, f.main);
  }
  CHECK(Total(ledger, &LedgerEntry::returned) == 0);
}

TEST_CASE("A ledger follows 32 of the parts that a line asked for") {
  Parted f(100);
  const Ledger ledger(Ledger::Detail::kVerify);
  f.memory.gpu_data();
  f.Norm(true), f.Step();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
  f.Norm(), f.Step();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 32);
}

TEST_CASE("What a device holds is known in 64 pieces at most, the newest") {
  detail::HeldBytes held;
  const auto device = MakeDevice("sim:0");
  const auto holds = [&](std::size_t first) { return held.HoldersOf({first, 1}).size() == 1; };
  held.Add(device.get(), {0, 1000});
  for (std::size_t at = 1; at < 400; at += 2) held.Remove({at, 1});
  CHECK((!holds(0) && !holds(1) && !holds(2) && holds(398) && !holds(399) && holds(999)));
  for (std::size_t at = 2000; at < 3000; at += 10) held.Add(device.get(), {at, 1});
  CHECK((!holds(999) && !holds(2350) && holds(2360) && holds(2990)));
  for (std::size_t at = 2360; at < 2990; at += 10) held.Add(device.get(), {at + 1, 9});
  CHECK(held.HoldersOf({2360, 631}).size() == 1);  // what lies side by side is one piece
}

}  // namespace
}  // namespace ferry::testing
