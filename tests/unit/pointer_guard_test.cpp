// SPDX-License-Identifier: BSD-2-Clause
// Host pointers that were kept too long. Each case makes its guarded memories in child processes.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "pointer_guard_fixture.hpp"

namespace ferry::testing {
namespace {

#ifdef __x86_64__
TEST_CASE("a write by a pointer that was for reading names the memory, the byte and who has it, too") {
  CHECK(Report([](Guarded& g) {
          Write(g.memory.mutable_cpu_data());
          g.memory.gpu_data();
          Write(g.memory.cpu_data(), 5);
        }) ==
        "[ferry] [error] FERRY_GUARD: host code wrote byte 5 of \"w\", which has 8192: sim:0 has it, too. "
        "Call mutable_cpu_data again to write it.\n");
}

TEST_CASE("a read of stale bytes names the line that made them so") {
  const int line = __LINE__ + 3;
  const auto deed = [](Guarded& g) {
    const void* const old = g.memory.cpu_data();
    g.memory.mutable_gpu_data(Site::Caller(__builtin_FILE(), __builtin_LINE(), "Step"));
    Touch(old, 4097);
  };
  CHECK(Report(deed) ==
        "[ferry] [error] FERRY_GUARD: host code read byte 4097 of \"w\", which has 8192: sim:0 alone has it, "
        "since Step (pointer_guard_test.cpp:" +
            std::to_string(line) + ") asked for it mutable. Call cpu_data again after that.\n");
}

TEST_CASE("bytes on their way to the host, unasked for, gone or beyond the end are told apart") {
  const std::string words = "[ferry] [error] FERRY_GUARD: host code read ";
  CHECK(Report([](Guarded& g) {
          const void* const old = g.memory.cpu_data();
          g.memory.overwrite_gpu_data();
          g.memory.Prefetch(Side::kCpu, g.stream);
          Touch(old);
        }) == words +
                  "byte 0 of \"w\", which has 8192: it is on its way to the host. Call cpu_data, which waits "
                  "for it.\n");
  CHECK(Report([](Guarded& g) {
          const void* const old = g.memory.cpu_data();
          g.memory.Resize(kPage);
          g.memory.Resize(kTwoPages);
          Touch(old, kPage);
        }) == words +
                  "byte 4096 of \"w\", which has 8192: nobody has asked for it yet. Call cpu_data for a "
                  "pointer.\n");
  CHECK(Report([](Guarded& g) {
          const void* const old = g.memory.mutable_cpu_data();
          g.memory.Resize(kPage);
          Touch(old, kPage);
        }) == words + "byte 4096 of \"w\", which has 8192: only 4096 of them are in use.\n");
  CHECK(Report([](Guarded& g) { Touch(g.memory.cpu_data(), kTwoPages + 2); }) ==
        words + "3 bytes behind the end of \"w\", which has 8192: nothing is there.\n");
}

TEST_CASE("a copy that reads the bytes may be under way though only the host has them") {
  CHECK(Report([](Guarded& g) {
          void* const ptr = g.memory.overwrite_cpu_data();
          g.memory.gpu_data(g.stream);
          g.memory.Release(Side::kGpu);
          Write(ptr);
        }).ends_with("a device may still read it. Call mutable_cpu_data again to write it.\n"));
}
#endif

TEST_CASE("what each access allows is allowed") {
  CheckPasses([](Guarded& g) {
    Touch(g.memory.cpu_data(), kTwoPages - 1);
    Write(g.memory.mutable_cpu_data(), kTwoPages - 1);
    g.memory.gpu_data();
    Touch(g.memory.cpu_data());
    g.memory.mutable_gpu_data(g.stream);
    Write(g.memory.mutable_cpu_data());
    g.memory.gpu_data();
    Write(g.memory.overwrite_cpu_data(), kPage);
  });
}

TEST_CASE("a pointer is good again after the access that fetches the bytes") {
  CheckPasses([](Guarded& g) {
    void* const ptr = g.memory.mutable_cpu_data();
    Write(ptr, 3);
    g.memory.mutable_gpu_data();
    if (g.memory.cpu_data() != ptr || static_cast<const unsigned char*>(ptr)[3] != 1) _exit(2);
  });
}

TEST_CASE("parts are guarded page by page, and the larger right counts where two share one") {
  const auto part = [](Guarded& g, std::size_t first) {
    void* const ptr = g.memory.overwrite_cpu_data();
    g.memory.mutable_gpu_data({first, kTwoPages - first}, g.stream);
    Write(ptr, kPage - 1);
    return ptr;
  };
  CheckPasses([&](Guarded& g) { part(g, kPage); });
  CheckPasses([&](Guarded& g) { Write(part(g, kPage + 8), kPage + 16); });
  CHECK(With([&](Guarded& g) { Write(part(g, kPage), kPage); }).signal == SIGSEGV);
  CHECK(With([&](Guarded& g) {
          g.memory.overwrite_gpu_data();
          g.memory.Prefetch(Side::kCpu, g.stream, {kPage, kPage});
          const void* const first = g.memory.cpu_data({0, kPage});
          Touch(first);  // the other page is still on its way
          Touch(first, kPage);
        }).signal == SIGSEGV);
}

TEST_CASE("an access that was refused leaves the bytes within reach as they were") {
  CheckPasses([](Guarded& g) {
    void* const ptr = g.memory.overwrite_cpu_data();
    try {
      const TransferGuard guard(TransferPolicy::kThrow);
      g.memory.mutable_gpu_data();
      _exit(3);
    } catch (const TransferRefused&) {
      Write(ptr);
    }
  });
}

TEST_CASE("bytes that the program gives are not guarded, which the log says once") {
  std::vector<unsigned char> bytes(kTwoPages);
  const Ended ended = With([&](Guarded& g) {
    for (int i = 0; i < 2; ++i) {
      g.memory.set_cpu_data(bytes.data());
      g.memory.mutable_gpu_data();
      Write(bytes.data());
    }
  });
  CHECK(ended.signal == 0);
  const std::string words =
      "FERRY_GUARD: the 8192 bytes that set_cpu_data gave to a memory \"w\" are the program's, and "
      "not guarded, nor are later ones that are given so\n";
  REQUIRE(ended.errors.size() > words.size());
  CHECK(ended.errors.substr(ended.errors.size() - words.size()) == words);
  CHECK(ended.errors.find("FERRY_GUARD") == ended.errors.size() - words.size());
}

TEST_CASE("a unified device that comes to use the host's bytes may touch them") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    sim::Reset({.devices = 2, .unified_devices = 1});
    const auto first = MakeDevice("sim:0"), unified = MakeDevice("sim:1");
    SyncedMemory memory(kTwoPages, *first, "shared");
    void* const ptr = memory.overwrite_cpu_data();
    memory.gpu_data();
    memory.gpu_data({0, kPage}, Stream::Main(*unified));
    Write(ptr), Write(ptr, kPage);
  });
  CHECK(ended.signal == 0);
  CHECK(std::count(ended.errors.begin(), ended.errors.end(), '\n') == 1);
  CHECK(ended.errors.ends_with(
      "\"shared\" are not guarded: a device that uses it works on the host's memory\n"));
}

TEST_CASE("a unified device may be the first to use a memory's host bytes") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    sim::Reset({.devices = 2, .unified_devices = 1});
    const auto first = MakeDevice("sim:0"), unified = MakeDevice("sim:1");
    const SyncedMemory memory(kPage, *first, "shared");
    memory.gpu_data(Stream::Main(*unified));
    Touch(memory.cpu_data());
  });
  CHECK(ended.signal == 0);
}

TEST_CASE("the guard is off unless asked for, and stays with the memories that it was made for") {
  const Ended ended = InChild([] {
    SyncedMemory memory(kPage, GetDevice("sim"));
    const void* const ptr = memory.cpu_data();
    if (SetPointerGuard(PointerGuard::kOn) != PointerGuard::kOff) _exit(4);
    memory.mutable_gpu_data();
    Touch(ptr);
    SyncedMemory guarded(kPage, GetDevice("sim"));
    const void* const stale = guarded.cpu_data();
    if (SetPointerGuard(PointerGuard::kOff) != PointerGuard::kOn) _exit(5);
    guarded.mutable_gpu_data();
    (void)!write(STDERR_FILENO, "so far\n", 7);
    Touch(stale);
  });
  CHECK(ended.signal == SIGSEGV);
  CHECK(ended.errors.substr(0, 7) == "so far\n");
}

sigjmp_buf back;

TEST_CASE("a program's own handler comes after the report, and may go on") {
  const Ended ended = InChild([] {
    std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
    Guarded guarded;
    const void* const old = guarded.memory.cpu_data();
    guarded.memory.mutable_gpu_data();
    if (sigsetjmp(back, 1) == 0) Touch(old);
    if (sigsetjmp(back, 1) == 0) Touch(old);
  });
  CHECK(ended.signal == 0);
  std::size_t lines = 0;
  for (const char c : ended.errors) lines += c == '\n' ? 1 : 0;
  CHECK(lines == 2);
}

TEST_CASE("a memory that outlives its device is still named") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    const void* old = nullptr;
    {
      auto device = MakeDevice("sim:0");
      SyncedMemory memory(kPage, *device, "late");
      old = memory.overwrite_cpu_data();
      device.reset();
    }
    Touch(old);
  });
  CHECK(ended.signal == SIGSEGV);
  CHECK(ended.errors.find("of \"late\", which has 4096: the memory has ended") != std::string::npos);
}

TEST_CASE("an observer may look at the bytes that an access has got") {
  CheckPasses([](Guarded& g) {
    const Ledger ledger(Ledger::Detail::kVerify);
    g.memory.mutable_cpu_data();
    g.memory.mutable_gpu_data();
    g.memory.mutable_cpu_data();
    g.memory.gpu_data();
  });
}

TEST_CASE("addresses of blocks that were given back are used again before new ones stay unguarded") {
  constexpr std::size_t kLarge = std::size_t{1} << 30;  // of which no page is touched
  const auto after = [](int blocks) {
    return With([=](Guarded& g) {
      for (int i = 0; i < blocks; ++i) SyncedMemory(kLarge, g.device).overwrite_cpu_data();
      SyncedMemory last(kLarge, g.device);
      const void* const part = last.overwrite_cpu_data(ByteRange{0, kPage});
      Touch(part, kPage);
    });
  };
  CHECK(after(1).signal == SIGSEGV);
  CHECK(after(100).signal == SIGSEGV);
}

TEST_CASE("a size beyond all bounds fails as it does without a guard") {
  CheckPasses([](Guarded& g) {
    SyncedMemory all(~std::size_t{0}, g.device);
    try {
      all.overwrite_cpu_data();
      _exit(6);
    } catch (const OutOfMemory&) {
    }
  });
}

}  // namespace
}  // namespace ferry::testing
