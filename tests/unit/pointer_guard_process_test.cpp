// SPDX-License-Identifier: BSD-2-Clause
// What a guard does beside another process, and with labels that nobody would choose.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ferry/ferry.hpp"
#include "sim_child.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kBytes = 8192;

TEST_CASE("a memory that a forked process makes is no memory of its parent's") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    Device& device = GetDevice("sim");
    SyncedMemory before(kBytes, device, "before");
    before.mutable_cpu_data();
    std::array<int, 2> go{};
    if (pipe(go.data()) != 0) _exit(2);
    const pid_t child = fork();
    if (child == 0) {
      close(go[1]);
      alarm(20);
      char byte = 0;
      if (read(go[0], &byte, 1) != 1) _exit(3);
      SyncedMemory own(kBytes, device, "own");
      const auto* const zeros = static_cast<const unsigned char*>(own.cpu_data());
      _exit(std::all_of(zeros, zeros + kBytes, [](unsigned char one) { return one == 0; }) ? 0 : 4);
    }
    SyncedMemory mine(kBytes, device, "mine");
    auto* const bytes = static_cast<unsigned char*>(mine.mutable_cpu_data());
    std::memset(bytes, 7, kBytes);
    int status = 1;
    if (write(go[1], "", 1) != 1 || waitpid(child, &status, 0) != child || status != 0) _exit(5);
    if (!std::all_of(bytes, bytes + kBytes, [](unsigned char one) { return one == 7; })) _exit(6);
  });
  CHECK(ended.signal == 0);
  CHECK(ended.status == 0);
}

TEST_CASE("a ledger that verifies compares bytes that the host may not touch") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    const Ledger ledger(Ledger::Detail::kVerify);
    SyncedMemory memory(kBytes, GetDevice("sim"), "w");
    memory.mutable_cpu_data();
    memory.mutable_gpu_data();
    memory.cpu_data();
    for (const LedgerEntry& entry : ledger.Entries())
      if (entry.unwritten != (entry.to == "the host" && entry.kind == LedgerKind::kCopy ? 1U : 0U)) _exit(1);
  });
  CHECK(ended.signal == 0);
  CHECK(ended.status == 0);
}

TEST_CASE("of the memories of unified devices the first is said not to be guarded") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    sim::Reset({.unified = true});
    const auto device = MakeDevice("sim:0");
    for (int i = 0; i < 3; ++i) SyncedMemory(kBytes, *device).mutable_cpu_data();
  });
  CHECK(ended.signal == 0);
  CHECK(std::count(ended.errors.begin(), ended.errors.end(), '\n') == 1);
  CHECK(ended.errors.find("the 8192 bytes of a memory are not guarded: a device that uses it "
                          "works on the host's memory") != std::string::npos);
}

TEST_CASE("what the host and a GPU have copies of is said not to be guarded") {
  const bool gpu_first = GENERATE(false, true);
  const Ended ended = InChild([=] {
    SetPointerGuard(PointerGuard::kOn);
    const auto host = MakeDevice("host"), gpu = MakeDevice("sim:0");
    SyncedMemory alone(kBytes, *host, "alone"), x(kBytes, *host, "x");
    alone.mutable_cpu_data();
    if (gpu_first) x.overwrite_gpu_data(Stream::Main(*gpu));
    x.mutable_cpu_data();
    x.mutable_gpu_data(Stream::Main(*gpu));
  });
  CHECK(ended.signal == 0);
  CHECK(std::count(ended.errors.begin(), ended.errors.end(), '\n') == 1);
  CHECK(
      ended.errors.find("the 8192 bytes of \"x\" are not guarded: a device that uses it works on the host's "
                        "memory") != std::string::npos);
}

TEST_CASE("of a memory of the host device nothing is said where nothing was to be guarded") {
  const Ended ended = InChild([] {
    sim::Reset({.devices = 2, .unified_devices = 1});
    const auto host = MakeDevice("host"), second = MakeDevice("host");
    const auto gpu = MakeDevice("sim:0"), unified = MakeDevice("sim:1");
    const Stream on_gpu = Stream::Main(*gpu);
    SyncedMemory off(kBytes, *host), shared(kBytes, *host), only_there(kBytes, *host), given(kBytes, *host);
    off.mutable_cpu_data(), off.gpu_data(on_gpu);
    SetPointerGuard(PointerGuard::kOn);
    shared.gpu_data(Stream::Main(*second)), shared.mutable_cpu_data();
    SyncedMemory before(kBytes, *host), after(kBytes, *host);
    before.gpu_data(Stream::Main(*unified)), before.mutable_cpu_data();
    after.mutable_cpu_data(), after.gpu_data(Stream::Main(*unified));
    only_there.overwrite_gpu_data(on_gpu);
    std::vector<char> bytes(kBytes);
    given.set_cpu_data(bytes.data());
    given.gpu_data(on_gpu);
  });
  CHECK(ended.signal == 0);
  CHECK(ended.errors.find("a device that uses it") == std::string::npos);
}

TEST_CASE("what two devices have is not said to be of one alone") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    sim::Reset({.devices = 2});
    const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
    SyncedMemory x(kBytes, *first, "x");
    const volatile auto* const bytes = static_cast<const volatile char*>(x.mutable_cpu_data());
    x.mutable_gpu_data();
    x.gpu_data(Stream::Main(*second));
    static_cast<void>(bytes[0]);
  });
  CHECK(ended.signal == SIGSEGV);
  CHECK(ended.errors.find("sim:0 has it, since") != std::string::npos);
}

TEST_CASE("more blocks than the system has mappings for are not all guarded, which is said, and all work") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    std::vector<std::unique_ptr<SyncedMemory>> memories;
    for (int i = 0; i < 8200; ++i) {
      memories.push_back(std::make_unique<SyncedMemory>(8, GetDevice("sim")));
      std::memset(memories.back()->overwrite_cpu_data(), 1, 8);
    }
  });
  CHECK(ended.signal == 0);
  CHECK(std::count(ended.errors.begin(), ended.errors.end(), '\n') == 1);
  CHECK(ended.errors.find("the 8 bytes of a memory are not guarded: there are 8192 guarded memories") !=
        std::string::npos);
}

#ifdef __x86_64__
std::string ErrorOfLabel(const std::string& label) {
  return InChild([&] {
           SetPointerGuard(PointerGuard::kOn);
           SyncedMemory memory(kBytes, GetDevice("sim"), label);
           memory.mutable_cpu_data();
           memory.gpu_data();
           *static_cast<volatile char*>(const_cast<void*>(memory.cpu_data())) = 1;
         })
      .errors;
}

/// The host's bytes are stale; says so in a report, while another thread's call on the memory goes on for a
/// while.
std::string ErrorDuringCall(std::chrono::milliseconds goes_on) {
  return InChild([=] {
           struct Slow : Observer {
             explicit Slow(std::chrono::milliseconds of) : time(of) {}
             using Observer::On;
             void On(const CopyRecord&) override {
               started = true;
               std::this_thread::sleep_for(time);
             }
             std::chrono::milliseconds time;
             std::atomic<bool> started{false};
           };
           SetPointerGuard(PointerGuard::kOn);
           SyncedMemory memory(kBytes, GetDevice("sim"), "x");
           const void* const kept = memory.mutable_cpu_data();
           memory.mutable_gpu_data();
           const auto slow = std::make_shared<Slow>(goes_on);
           const Watch watch(slow);
           std::thread other([&] { memory.cpu_data(); });
           while (!slow->started) std::this_thread::yield();
           Touch(kept);
           other.join();
         })
      .errors;
}

TEST_CASE("a report waits for another thread's call on the memory, which may need the guard itself") {
  CHECK(ErrorDuringCall(std::chrono::milliseconds(50)).find("x\", which has 8192: ") != std::string::npos);
  CHECK(ErrorDuringCall(std::chrono::milliseconds(50)).find("while a call is under way") ==
        std::string::npos);
  CHECK(ErrorDuringCall(std::chrono::milliseconds(2000))
            .ends_with("what happened to it cannot be told while a call is under way.\n"));
}

TEST_CASE("a touch that was reported ends the program, though another thread makes it right meanwhile") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    static SyncedMemory memory(kBytes, GetDevice("sim"), "x");
    const void* const kept = memory.mutable_cpu_data();
    memory.mutable_gpu_data();
    std::array<int, 2> report{};
    if (pipe(report.data()) != 0) _exit(2);
    // The report is written while the pipe is full, and waits for the thread that makes room.
    const std::string full(1 << 16, '#');
    if (write(report[1], full.data(), full.size()) != static_cast<ssize_t>(full.size())) _exit(3);
    dup2(report[1], STDERR_FILENO);
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      memory.cpu_data();
      std::string room(1 << 16, '#');
      while (read(report[0], room.data(), room.size()) > 0) continue;
    }).detach();
    Touch(kept);
    _exit(4);
  });
  CHECK(ended.signal == SIGSEGV);
}

TEST_CASE("a label of any length and with any character leaves room for what is to be done") {
  const std::string errors = ErrorOfLabel("line\n" + std::string(3000, 'x'));
  CHECK(errors.starts_with("[ferry] [error] FERRY_GUARD: host code wrote byte 0 of \"line?xxx"));
  CHECK(errors.ends_with(
      "xxx...\", which has 8192: sim:0 has it, too. Call mutable_cpu_data again to write it.\n"));
  CHECK(std::count(errors.begin(), errors.end(), '\n') == 1);
  const std::string longest(200, 'y');
  CHECK(ErrorOfLabel(longest).find(longest + "\", which") != std::string::npos);
  CHECK(ErrorOfLabel(longest + "z").find(longest + "...\", which") != std::string::npos);
}
#endif

}  // namespace
}  // namespace ferry::testing
