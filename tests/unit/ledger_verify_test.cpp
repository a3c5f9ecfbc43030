// SPDX-License-Identifier: BSD-2-Clause
// What a ledger that verifies knows of devices that ask for bytes mutable.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

void AskThere(Blob<float>& blob) { blob.mutable_gpu_data(); }

struct VerifyFixture : LedgerFixture {
  VerifyFixture() { blob.set_name("weight7"), Grow(blob); }
  std::uint64_t unwritten() const { return Total(*ledger, &LedgerEntry::unwritten); }

  Blob<float> blob{{100}, *device};
  std::optional<Ledger> ledger{Ledger::Detail::kVerify};
};

TEST_CASE("A device's line that asks for bytes mutable and writes none is told so when the host reads them") {
  VerifyFixture f;
  for (int i = 0; i < 3; ++i) AskThere(f.blob), Look(f.blob);
  CHECK_THAT(Joined(f.ledger->Advice()),
             ContainsSubstring("\"weight7\" copied 3 times, 1.2 kB: AskThere (ledger_verify_test.cpp:") &&
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

TEST_CASE(
    "A device that asks for bytes that the host has not got yet, or not all of, has not asked in vain") {
  VerifyFixture f;
  GrowThere(f.blob);
  AskThere(f.blob), Look(f.blob);  // asked while it alone had them
  CHECK(f.unwritten() == 0);
  GrowThere(f.blob);
  f.blob.data()->Prefetch(Side::kCpu, Stream::Main(*f.device));
  AskThere(f.blob), Look(f.blob);  // the host was to have them, and had not looked
  CHECK(f.unwritten() <= 1);
  SyncedMemory part(40, *f.device, "part");
  part.overwrite_cpu_data({0, 20});
  const auto before = f.unwritten();
  part.mutable_gpu_data();  // the rest is zeroed there
  part.cpu_data();
  CHECK(f.unwritten() == before);
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
