// SPDX-License-Identifier: BSD-2-Clause
// Each case makes machines in child processes alone, where it meets the first one.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "sim_child.hpp"
#include "sim_fixture.hpp"

namespace ferry::testing {
namespace {

/// A child that may only end by SIGSEGV, and what it said before.
std::string LastWords(const std::function<void()>& deed) {
  const Ended ended = InChild(deed);
  CHECK(ended.signal == SIGSEGV);
  return ended.errors;
}

/// What no process has.
const void* Nowhere() {
  static const volatile std::uintptr_t address = 8;
  return reinterpret_cast<const void*>(address);
}

/// The text with its addresses replaced, as they differ from run to run.
std::string WithoutAddress(std::string text) {
  const auto at = text.find("0x");
  if (at == std::string::npos) return text;
  return text.replace(at, text.find_first_not_of("0123456789abcdef", at + 2) - at, "ADDRESS");
}

TEST_CASE("host code that touches device memory is told whose it is") {
  CHECK(WithoutAddress(LastWords([] {
          SimWorld world({.devices = 2});
          SimDevice second{1};
          void* const block = second.Allocate(MemoryKind::kDevice, 64, second.properties().main_stream);
          Touch(block, 12);
        })) ==
        "[ferry] [error] sim: host code touched ADDRESS: byte 12 of 64 bytes of device memory of sim:1, made "
        "by MallocAsync (call 2). The host can only use what cpu_data returns.\n");
}

TEST_CASE("the address is the one that was touched") {
  const std::string words = LastWords([] {
    SimWorld world;
    std::byte* const block = world.NewDevice(world.main);
    (void)dprintf(STDERR_FILENO, "%p\n", static_cast<void*>(block + 7));
    Touch(block, 7);
  });
  const std::string address = words.substr(0, words.find('\n'));
  CHECK(Contains(words, "touched " + address + ":"));
}

TEST_CASE("a kernel that touches what it did not name, or writes what it is to read, is told whose it is") {
  for (const bool named : {false, true})
    CHECK(WithoutAddress(LastWords([=] {
            SimWorld world;
            std::byte* const block = world.NewDevice(world.main);
            const std::byte* const read_only = block;
            sim::Launch(world.main,
                        named ? std::vector<ferry::Touch>{read_only} : std::vector<ferry::Touch>{},
                        [=] { *block = std::byte{1}; });
            sim::Drain();
          })) ==
          "[ferry] [error] sim: a kernel touched ADDRESS: byte 0 of 64 bytes of device memory of sim:0, made "
          "by MallocAsync (call 2). Its launch did not name this block, or named it for reading alone.\n");
}

TEST_CASE("who touches what lies around a block is told how far from it that is") {
  const auto around = [](std::ptrdiff_t at) {
    return LastWords([=] {
      SimWorld world;
      Touch(world.NewPinned(4096), at);
    });
  };
  const std::string block = " 4096 bytes of pinned host memory, made by MallocHost (call 2).\n";
  CHECK(Contains(around(4096), ": 1 byte behind the end of" + block));
  CHECK(Contains(around(4099), ": 4 bytes behind the end of" + block));
  const std::string words = LastWords([] {
    SimWorld world;
    std::byte* const first = world.NewPinned(8192);
    (void)world.NewPinned(8192);
    Touch(first, 8192 + 4096 - 16);
  });
  CHECK(Contains(words,
                 ": 16 bytes in front of 8192 bytes of pinned host memory, made by MallocHost (call 3)."));
}

TEST_CASE("who touches memory that was freed is told so, as long as it is remembered") {
  for (const auto kind : {MemoryKind::kDevice, MemoryKind::kManaged}) {
    const std::string words = LastWords([=] {
      SimWorld world;
      void* const block = world.device.Allocate(kind, 64, world.main.handle());
      world.Free(kind, block, world.main);
      sim::Drain();
      Touch(block);
    });
    CHECK(Contains(words, kind == MemoryKind::kDevice
                              ? " of device memory of sim:0, made by MallocAsync (call 2)"
                              : " of managed memory of sim:0, made by MallocManaged (call 2)"));
    CHECK(Contains(words, " and freed since.\n"));
  }
  for (const bool host : {false, true}) {
    const std::string words = LastWords([=] {
      const std::byte* block = nullptr;
      {
        SimWorld world;
        block = host ? world.NewPinned() : world.NewDevice(world.main);
      }
      sim::Reset();
      Touch(block);
    });
    CHECK(Contains(words, ": memory of the simulated GPU that was freed long ago, or never allocated.\n"));
  }
}

TEST_CASE("a touch while another thread is in the simulator is reported all the same") {
  const std::string words = LastWords([] {
    SimWorld world;
    std::byte* const block = world.NewDevice(world.main);
    std::atomic<bool> started = false;
    std::thread([&] {
      for (;; started = true) (void)sim::Inspect();
    }).detach();
    while (!started) std::this_thread::yield();
    Touch(block);
  });
  CHECK(Contains(words, "byte 0 of 64 bytes of device memory of sim:0"));
}

TEST_CASE("other crashes are none of the simulator's business") {
  CHECK(LastWords([] {
          SimWorld world;
          Touch(Nowhere());
        }).empty());
  CHECK(LastWords([] {
          SimWorld world;
          (void)raise(SIGSEGV);
        }).empty());
}

// The program's own handlers, which say so on stderr.
std::byte* touched = nullptr;
sigjmp_buf back;

void Say(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }
void Exit(int, siginfo_t* info, void*) {
  Say(info->si_addr == touched && info->si_code == SEGV_ACCERR ? "theirs" : "not the same signal");
  _exit(7);
}
void ExitPlainly(int) {
  Say("theirs");
  _exit(7);
}
void JumpBack(int) {
  Say("theirs ");
  siglongjmp(back, 1);
}

void Handle(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  (void)sigaction(SIGSEGV, &action, nullptr);
}

TEST_CASE("a handler that the program had is called after the report, with the same signal") {
  const Ended ended = InChild([] {
    Handle(Exit);
    SimWorld world;
    Touch(touched = world.NewDevice(world.main));
  });
  CHECK(ended.status == 7);
  CHECK(Contains(ended.errors, "MallocAsync (call 2)"));
  CHECK(Contains(ended.errors, "\ntheirs"));
}

TEST_CASE("a handler of signal's is called after the report, and so is a handler of other crashes") {
  for (const bool ours : {true, false}) {
    const Ended ended = InChild([=] {
      (void)std::signal(SIGSEGV, ExitPlainly);
      SimWorld world;
      Touch(ours ? world.NewDevice(world.main) : Nowhere());
    });
    CHECK(ended.status == 7);
    CHECK(Contains(ended.errors, "[ferry]") == ours);
    CHECK(Contains(ended.errors, "theirs"));
  }
}

TEST_CASE("a handler that goes on elsewhere finds each touch reported") {
  const Ended ended = InChild([] {
    (void)std::signal(SIGSEGV, JumpBack);
    SimWorld world;
    std::byte* const block = world.NewDevice(world.main);
    for (volatile int times = 0; times < 3;) {
      times = times + 1;
      if (sigsetjmp(back, 1) == 0) Touch(block, times);
    }
  });
  CHECK(ended.signal == 0);
  CHECK(ended.status == 0);
  for (const char* which : {"byte 1 of", "byte 2 of", "byte 3 of"}) CHECK(Contains(ended.errors, which));
}

TEST_CASE("a handler for one signal is called for one") {
  const Ended ended = InChild([] {
    struct sigaction action {};
    action.sa_handler = JumpBack;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    (void)sigaction(SIGSEGV, &action, nullptr);
    SimWorld world;
    std::byte* const block = world.NewDevice(world.main);
    if (sigsetjmp(back, 1) == 0) Touch(block);
    Touch(block);
  });
  CHECK(ended.signal == SIGSEGV);
  CHECK(Contains(ended.errors, "theirs"));
  CHECK(ended.errors.find("theirs") == ended.errors.rfind("theirs"));
}

TEST_CASE("a handler that the program sets later stays, over new machines too") {
  const Ended ended = InChild([] {
    sim::Reset();
    Handle(Exit);
    SimWorld world;
    Touch(touched = world.NewDevice(world.main));
  });
  CHECK(ended.status == 7);
  CHECK(ended.errors == "theirs");
}

TEST_CASE("a new machine is watched where a test framework took the handlers away, or set its own again") {
  for (const bool again : {false, true}) {
    const Ended ended = InChild([=] {
      Handle(Exit);
      sim::Reset();
      (void)std::signal(SIGSEGV, SIG_DFL);
      if (again) Handle(Exit);
      SimWorld world;
      Touch(touched = world.NewDevice(world.main));
    });
    CHECK(ended.signal == (again ? 0 : SIGSEGV));
    CHECK(ended.status == (again ? 7 : 0));
    CHECK(Contains(ended.errors, "MallocAsync (call 2)"));
    CHECK(Contains(ended.errors, "theirs") == again);
  }
}

TEST_CASE(
    "where SIGSEGV is ignored, one that was sent is, and a touch ends the process as the system has it") {
  CHECK(SignalOf([] {
          (void)std::signal(SIGSEGV, SIG_IGN);
          SimWorld world;
          (void)raise(SIGSEGV);
        }) == 0);
  CHECK(Contains(LastWords([] {
                   (void)std::signal(SIGSEGV, SIG_IGN);
                   SimWorld world;
                   Touch(world.NewDevice(world.main));
                 }),
                 "MallocAsync (call 2)"));
}

}  // namespace
}  // namespace ferry::testing
