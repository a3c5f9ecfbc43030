// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ferry/ferry.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;

struct GuardFixture {
  GuardFixture() { sim::Reset({.seed = 1}); }
  std::unique_ptr<Device> device = MakeDevice("sim:0");
};

template <class Call>
std::string RefusalOf(Call call) {
  try {
    call();
  } catch (const TransferRefused& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("A guard refuses copies in both directions, and no byte or head changes") {
  GuardFixture f;
  SyncedMemory up(4, *f.device, "up"), down(4, *f.device, "down");
  *static_cast<int*>(up.overwrite_cpu_data()) = 1;
  down.overwrite_gpu_data();
  {
    const TransferGuard guard(TransferPolicy::kThrow);
    const std::string refusal = RefusalOf([&] { up.gpu_data(); });
    const std::string line = std::to_string(__LINE__ - 1);
    CHECK_THAT(refusal, ContainsSubstring("\"up\"") && ContainsSubstring("from the host to sim:0") &&
                            ContainsSubstring("transfer_guard_test.cpp:" + line) &&
                            ContainsSubstring("kAllow"));
    CHECK_THAT(RefusalOf([&] { down.cpu_data(); }), ContainsSubstring("from sim:0 to the host"));
    CHECK_THAT(RefusalOf([&] { up.Prefetch(Side::kGpu, Stream::Main(*f.device)); }),
               ContainsSubstring("a Prefetch"));
    CHECK(up.head() == Head::HEAD_AT_CPU);
    CHECK(down.head() == Head::HEAD_AT_GPU);
    up.overwrite_gpu_data();  // moves nothing
  }
  CHECK(RefusalOf([&] { down.cpu_data(); }).empty());
}

TEST_CASE("A refused copy leaves bytes beside it that nobody has written as they were") {
  GuardFixture f;
  const std::size_t written = GENERATE(0U, 4U, 8U);
  SyncedMemory x(12, *f.device, "x");
  *static_cast<int*>(x.overwrite_cpu_data({written, 4})) = 1;
  const TransferGuard guard(TransferPolicy::kThrow);
  CHECK_THAT(RefusalOf([&] { x.gpu_data(); }), ContainsSubstring("4 bytes"));
  CHECK(x.head() == Head::HEAD_AT_CPU);
  CHECK(LiveBlocks(*f.device).size() == 1);
  const auto* const values = static_cast<const int*>(x.cpu_data());
  for (std::size_t i = 0; i < 3; ++i) CHECK(values[i] == (4 * i == written ? 1 : 0));
}

TEST_CASE(
    "A call whose copy is refused makes no zeros of its other operands, nor of other parts of that one") {
  GuardFixture f;
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  Array<float> written(4, *f.device), fresh(4, *f.device), halves(8, *f.device);
  cpu.Overwrite(written);
  auto hole = halves.Slice(0, 4), rest = halves.Slice(4, 4);
  cpu.Overwrite(rest);
  const TransferGuard guard(TransferPolicy::kThrow);
  CHECK_FALSE(RefusalOf([&] { Axpy(gpu, 1.0F, fresh, written); }).empty());
  CHECK_FALSE(RefusalOf([&] { Axpy(gpu, 1.0F, written, fresh); }).empty());
  CHECK(fresh.memory()->head() == Head::UNINITIALIZED);
  CHECK_FALSE(RefusalOf([&] { Axpy(gpu, 1.0F, hole, rest); }).empty());
  CHECK_FALSE(RefusalOf([&] { Axpy(gpu, 1.0F, rest, hole); }).empty());
  CHECK(halves.memory()->head(ByteRange{0, 16}) == Head::UNINITIALIZED);
  CHECK(cpu.Read(halves)[0] == 0);
}

TEST_CASE("The refusal says who has written the bytes, and how they were asked for") {
  GuardFixture f;
  const TransferGuard guard(TransferPolicy::kThrow);
  SyncedMemory memory(4, *f.device);
  memory.mutable_cpu_data();
  const std::string line = std::to_string(__LINE__ - 1);
  CHECK_THAT(RefusalOf([&] { memory.gpu_data(); }),
             ContainsSubstring("transfer_guard_test.cpp:" + line + ") asked for them mutable"));
  SyncedMemory filled(4, *f.device);
  filled.overwrite_cpu_data();
  CHECK_THAT(RefusalOf([&] { filled.gpu_data(); }), ContainsSubstring(") asked for them to overwrite"));
  CHECK_THAT(RefusalOf([&] { memory.Release(Side::kCpu); }), ContainsSubstring("for a Release by"));
}

TEST_CASE("The innermost guard decides, and its end brings back the one around it") {
  GuardFixture f;
  SyncedMemory a(4, *f.device), b(4, *f.device), c(4, *f.device);
  for (SyncedMemory* memory : {&a, &b, &c}) memory->overwrite_cpu_data();
  const TransferGuard outer(TransferPolicy::kThrow);
  {
    const TransferGuard inner(TransferPolicy::kAllow);
    CHECK(RefusalOf([&] { a.gpu_data(); }).empty());
    const TransferGuard innermost(TransferPolicy::kThrow);
    CHECK_FALSE(RefusalOf([&] { b.gpu_data(); }).empty());
  }
  CHECK_FALSE(RefusalOf([&] { c.gpu_data(); }).empty());
}

TEST_CASE("A guard is of its thread alone") {
  GuardFixture f;
  SyncedMemory memory(4, *f.device);
  memory.overwrite_cpu_data();
  const TransferGuard guard(TransferPolicy::kThrow);
  std::string refusal = "none yet";
  std::thread([&] { refusal = RefusalOf([&] { memory.gpu_data(); }); }).join();
  CHECK(refusal.empty());
}

TEST_CASE("A guard that logs lets the copy go, with a warning for each") {
  GuardFixture f;
  SyncedMemory memory(4, *f.device, "x");
  memory.overwrite_cpu_data();
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  {
    const TransferGuard guard(TransferPolicy::kLog);
    memory.gpu_data();
  }
  SetLogSink({});
  CHECK(memory.head() == Head::SYNCED);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], ContainsSubstring("\"x\": 4 bytes from byte 0 on would go from the host to sim:0"));
}

TEST_CASE("A kernel that is refused takes none of its operands") {
  GuardFixture f;
  Array<float> x(4, *f.device, "x"), y(4, *f.device, "y");
  const Place cpu = Place::Cpu(*f.device), gpu(*f.device);
  cpu.Overwrite(x);
  gpu.Overwrite(y);
  const TransferGuard guard(TransferPolicy::kThrow);
  CHECK_THAT(RefusalOf([&] { Axpy(gpu, 2.0F, x, y); }), ContainsSubstring("\"x\""));
  CHECK(x.memory()->head() == Head::HEAD_AT_CPU);
  CHECK(y.memory()->head() == Head::HEAD_AT_GPU);
}

}  // namespace
}  // namespace ferry::testing
