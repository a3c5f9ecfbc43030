// SPDX-License-Identifier: BSD-2-Clause
// What a ledger that verifies knows of devices that ask for bytes mutable.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A device's line that asks for bytes mutable and writes none is told so when the host reads them") {
  VerifyFixture f;
  for (int i = 0; i < 3; ++i) AskThere(f.blob), Look(f.blob);
  CHECK_THAT(Joined(f.ledger->Advice()),
             ContainsSubstring("\"weight7\" copied 3 times, 1.2 kB: AskThere (ledger_fixture.hpp:") &&
                 ContainsSubstring(") asked for it mutable, then Look (ledger_fixture.hpp:") &&
                 ContainsSubstring(") read it on the host; read-only access would save all of them"));
}

TEST_CASE("A device that writes, by a kernel or by a pointer, has not asked in vain") {
  VerifyFixture f;
  GrowThere(f.blob), Look(f.blob);
  float* const there = f.blob.mutable_gpu_data();
  const Stream main = Stream::Main(*f.device);
  f.device->Fill(there, std::byte{7}, 400, main.handle());
  Look(f.blob);
  CHECK(f.unwritten() == 0);
  AskThere(f.blob), Look(f.blob);
  CHECK(f.unwritten() == 1);
}

TEST_CASE("Nobody is told so where the ledger does not verify, or of what is overwritten") {
  VerifyFixture f;
  f.ledger.emplace(Ledger::Detail::kRecords);
  AskThere(f.blob), Look(f.blob);
  CHECK(f.unwritten() == 0);
  f.ledger.emplace(Ledger::Detail::kVerify);
  f.blob.gpu_data();
  f.blob.overwrite_gpu_data();  // with what was there
  Look(f.blob);
  CHECK(f.unwritten() == 0);
}

TEST_CASE("A device that asks for bytes before the host gives its own back has not asked in vain") {
  VerifyFixture f;
  AskThere(f.blob);
  f.blob.data()->Release(Side::kCpu);
  Look(f.blob);  // copies them, whatever the device had asked for
  CHECK(f.unwritten() == 0);
  AskThere(f.blob), Look(f.blob);
  CHECK(f.unwritten() == 1);
}

TEST_CASE("What the host gives back it copies again, whether it had asked for it mutable or not") {
  VerifyFixture f;
  Step(f.blob), Norm(f.blob);
  f.blob.data()->Release(Side::kCpu);
  CHECK(f.unwritten() == 1);  // the device had it
  Look(f.blob);
  CHECK(f.unwritten() == 1);
}

TEST_CASE("A device that asks for bytes while it alone has them has not asked in vain") {
  VerifyFixture f;
  GrowThere(f.blob);
  AskThere(f.blob), Look(f.blob);
  CHECK(f.unwritten() == 0);
}

TEST_CASE("A device's line has asked in vain, though another device has given its bytes back meanwhile") {
  sim::Reset({.seed = 1, .devices = 2});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  SyncedMemory x(64, *first, "x");
  std::memset(x.overwrite_cpu_data(), 1, 64);
  x.gpu_data(Stream::Main(*second)), x.gpu_data();
  const Ledger ledger(Ledger::Detail::kVerify);
  x.mutable_gpu_data();
  x.Release(*second);
  x.cpu_data();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 1);
}

TEST_CASE("A second device is brought in vain what the host asked for, though the host has none of it now") {
  sim::Reset({.seed = 1, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  SyncedMemory x(64, *first, "x");
  std::memset(x.overwrite_cpu_data(), 1, 64);
  const Ledger ledger(Ledger::Detail::kVerify);
  x.gpu_data(), x.gpu_data(Stream::Main(*second));
  x.mutable_cpu_data();
  x.Release(Side::kCpu);
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 1);
  x.cpu_data();
  x.gpu_data(Stream::Main(*second));
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 2);
}

TEST_CASE("A copy whose access failed is not compared by who accesses other bytes") {
  sim::Reset({.order = sim::Order::kLate, .fail_at = 1, .fail_call = "EventSynchronize"});
  const auto device = MakeDevice("sim:0");
  const Stream main = Stream::Main(*device);
  SyncedMemory x(400, *device, "x");
  std::memset(x.overwrite_cpu_data(), 1, 400);
  x.gpu_data();
  const Ledger ledger(Ledger::Detail::kVerify);
  device->Fill(x.mutable_gpu_data({0, 200}, main), std::byte{7}, 200, main.handle());
  CHECK_THROWS_AS(x.cpu_data({0, 200}), DeviceError);
  x.mutable_cpu_data({200, 200});  // while the copy is under way
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
}

/// The last access's.
struct HostBytes : Observer {
  using Observer::On;
  void On(const AccessRecord& access) override { bytes = access.bytes_on_host; }
  const void* bytes = nullptr;
};

TEST_CASE(
    "An access's record has the host's bytes where the host gets them, or loses them to who reads, too") {
  sim::Reset({.order = sim::Order::kLate});
  const auto device = MakeDevice("sim:0");
  const Stream main = Stream::Main(*device);
  SyncedMemory x(40, *device, "x"), part(40, *device, "part");
  const auto notes = std::make_shared<HostBytes>();
  const Watch watch(notes);
  const void* const host = x.mutable_cpu_data();
  CHECK(notes->bytes == host);
  x.gpu_data();
  CHECK(notes->bytes == nullptr);
  x.mutable_gpu_data();
  CHECK(notes->bytes == host);
  CHECK(x.cpu_data() == host);
  CHECK(notes->bytes == host);
  x.overwrite_gpu_data();
  CHECK(notes->bytes == nullptr);
  x.Prefetch(Side::kCpu, main);
  CHECK(notes->bytes == nullptr);
  x.mutable_gpu_data();
  CHECK(notes->bytes == nullptr);  // they are on their way still
  x.Prefetch(Side::kCpu, main);
  x.cpu_data();
  x.mutable_gpu_data({8, 16}, main);
  CHECK(notes->bytes == static_cast<const char*>(host) + 8);
  part.overwrite_cpu_data({0, 20});
  part.mutable_gpu_data();
  CHECK(notes->bytes == nullptr);  // the rest is zeroed there
}

TEST_CASE("What the host reads of it in parts, or another line wrote meanwhile, is not told") {
  VerifyFixture f;
  SyncedMemory& memory = *f.blob.data();
  AskThere(f.blob), memory.cpu_data({0, 200}), memory.cpu_data({200, 200});
  CHECK(f.unwritten() == 0);
  AskThere(f.blob), GrowThere(f.blob), Look(f.blob);
  CHECK(f.unwritten() == 0);
  memory.mutable_gpu_data({0, 200}, Stream::Main(*f.device)), memory.cpu_data({0, 200});
  CHECK(f.unwritten() == 1);
  memory.mutable_gpu_data({200, 200}, Stream::Main(*f.device)), memory.cpu_data();  // only that comes
  CHECK(f.unwritten() == 2);
}

TEST_CASE("What became zeros since a device asked is not what it asked for") {
  const auto unwritten = [](auto deed) {
    LedgerFixture f;
    SyncedMemory x(64, *f.device, "x");
    std::memset(x.overwrite_cpu_data(), 0, 64);
    x.gpu_data();
    const Ledger ledger(Ledger::Detail::kVerify);
    f.device->Fill(x.mutable_gpu_data(), std::byte{7}, 64, Stream::Main(*f.device).handle());
    deed(x);
    x.gpu_data();
    x.cpu_data();
    return Total(ledger, &LedgerEntry::unwritten);
  };
  CHECK(unwritten([](SyncedMemory& x) { x.Resize(0), x.Resize(64); }) == 0);
  CHECK(unwritten([](SyncedMemory& x) {
          const SyncedMemory zeros(64, x.device());
          for (const std::size_t first : {0U, 32U}) x.Assign({first, 32}, zeros, first);
        }) == 0);
}

TEST_CASE("Nor are zeros that came to a part of it since") {
  LedgerFixture f;
  SyncedMemory x(64, *f.device, "x");
  const SyncedMemory zeros(64, *f.device);
  std::memset(x.overwrite_cpu_data(), 0, 64);
  x.gpu_data();
  const Ledger ledger(Ledger::Detail::kVerify);
  x.mutable_gpu_data();
  x.Assign({0, 8}, zeros, 0);
  x.gpu_data();
  x.cpu_data();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
}

TEST_CASE("Who wrote on one device is not blamed for a copy to another that is on its way by the host") {
  sim::Reset({.order = sim::Order::kLate, .devices = 2, .peers = false});
  const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
  const Stream one = Stream::Main(*first), two = Stream::Main(*second);
  const Ledger ledger(Ledger::Detail::kVerify);
  SyncedMemory x(64, *first, "x");
  std::memset(x.overwrite_cpu_data(), 0, 64);
  x.gpu_data(one), x.gpu_data(two), x.cpu_data();
  first->Fill(x.mutable_gpu_data(one), std::byte{7}, 64, one.handle());
  x.gpu_data(two);
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
  CHECK(*static_cast<const char*>(x.cpu_data()) == 7);
}

TEST_CASE("A unified device's bytes are the host's, which are not compared with themselves") {
  sim::Reset({.unified = true});
  const auto device = MakeDevice("sim:0");
  SyncedMemory x(40, *device, "x");
  const auto notes = std::make_shared<HostBytes>();
  const Watch watch(notes);
  x.mutable_cpu_data();
  x.mutable_gpu_data();
  CHECK(notes->bytes == nullptr);
}

TEST_CASE("Bytes that look like those that a device asked for are not those") {
  LedgerFixture f;
  SyncedMemory x(400, *f.device, "x");
  const Stream main = Stream::Main(*f.device);
  auto* const bytes = static_cast<std::byte*>(x.overwrite_cpu_data());
  std::memset(bytes, 1, 200), std::memset(bytes + 200, 0, 200);
  x.gpu_data(), x.cpu_data();
  const Ledger ledger(Ledger::Detail::kVerify);
  void* const second = x.mutable_gpu_data({200, 200}, main);
  f.device->Fill(second, std::byte{1}, 200, main.handle());
  x.mutable_gpu_data({0, 200}, main);
  x.cpu_data({200, 200});
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
}

TEST_CASE("A line that writes other bytes and then the old ones, on another stream, has written") {
  LedgerFixture f;
  SyncedMemory x(40, *f.device, "x");
  const Stream main = Stream::Main(*f.device), other(*f.device);
  std::memset(x.overwrite_cpu_data(), 1, 40);
  x.gpu_data();
  const Ledger ledger(Ledger::Detail::kVerify);
  const auto write = [&](const Stream& on, std::byte value) {
    f.device->Fill(x.mutable_gpu_data(on), value, 40, on.handle());
  };
  write(main, std::byte{2});
  write(other, std::byte{1});
  x.cpu_data();
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 0);
}

TEST_CASE("Of lines that write in turn, one that does not once has made no return then") {
  LedgerFixture f;
  SyncedMemory x(40, *f.device);
  const Stream main = Stream::Main(*f.device);
  const Ledger ledger(Ledger::Detail::kVerify);
  const auto here = [&] { ++*static_cast<unsigned char*>(x.mutable_cpu_data()); };
  const auto there = [&](unsigned char value) {
    void* const bytes = x.mutable_gpu_data();
    if (value != 0) f.device->Fill(bytes, std::byte{value}, 40, main.handle());
  };
  here(), there(1), here(), there(3), here();
  CHECK(Total(ledger, &LedgerEntry::returned) == 2);
  there(0), here();
  CHECK(Total(ledger, &LedgerEntry::returned) == 4);
  CHECK(Total(ledger, &LedgerEntry::unwritten) == 1);
}

TEST_CASE("What went to a device and back in vain is not written in turn") {
  VerifyFixture f;
  for (int i = 0; i < 4; ++i) Grow(f.blob), AskThere(f.blob);
  Grow(f.blob);
  CHECK_THAT(Joined(f.ledger->Advice()), ContainsSubstring(") asked for it mutable on the host; read-only") &&
                                             !ContainsSubstring("back and forth"));
  CHECK(Total(*f.ledger, &LedgerEntry::returned) == 0);
  CHECK(f.unwritten() == 4);
}

}  // namespace
}  // namespace ferry::testing
