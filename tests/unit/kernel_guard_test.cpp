// SPDX-License-Identifier: BSD-2-Clause
// Device pointers that were kept too long, used by kernels of the simulated GPU or by the host. Each case
// makes its guarded memories in child processes.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ferry/ferry.hpp"
#include "sim_child.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

constexpr std::size_t kPage = 4096, kBytes = 3 * kPage;

std::byte* BytesAt(const void* ptr) { return const_cast<std::byte*>(static_cast<const std::byte*>(ptr)); }

struct Kernels {
  explicit Kernels(PointerGuard guard = PointerGuard::kOn) { SetPointerGuard(guard); }

  /// Queues a kernel that reads a byte, or that writes it; by a pointer that may be stale.
  void Reads(const void* ptr, std::size_t byte = 0) const {
    sim::Launch(stream, {static_cast<const std::byte*>(ptr)},
                [=] { testing::Touch(ptr, static_cast<std::ptrdiff_t>(byte)); });
  }
  void Writes(const void* ptr, std::size_t byte = 0) const {
    sim::Launch(stream, {BytesAt(ptr)},
                [=] { const_cast<volatile std::byte*>(BytesAt(ptr))[byte] = std::byte{1}; });
  }

  Device& device = GetDevice("sim");
  SyncedMemory memory{kBytes, device, "w"};
  Stream stream{device};
};

template <class Deed>
Ended With(Deed deed, PointerGuard guard = PointerGuard::kOn) {
  return InChild([&] {
    Kernels kernels(guard);
    deed(kernels);
    sim::Drain();
  });
}
/// What the one says that may only end by SIGSEGV.
template <class Deed>
std::string Report(Deed deed) {
  return ReportOf(With(deed));
}
template <class Deed>
void CheckPasses(Deed deed, PointerGuard guard = PointerGuard::kOn) {
  CheckPassed(With(deed, guard));
}

#ifdef __x86_64__
TEST_CASE("a kernel that writes what the host has, too, is told the byte and what to call") {
  CHECK(Report([](Kernels& k) {
          void* const ptr = k.memory.overwrite_gpu_data(k.stream);
          k.Writes(ptr, 4);
          k.memory.cpu_data();
          k.Writes(ptr, 5);
        }) ==
        "[ferry] [error] FERRY_GUARD: a kernel wrote byte 5 of \"w\", which has 12288: the host has it, too. "
        "Call mutable_gpu_data again to write it.\n");
}

TEST_CASE("a kernel without page protection may write what it must not, and what it may") {
  const Ended ended = InChild([] {
    sim::Reset({.page_protection = false});
    Kernels k;
    void* const ptr = k.memory.overwrite_gpu_data(k.stream);
    k.memory.cpu_data();
    k.Writes(ptr, kPage + 5);
    k.memory.mutable_gpu_data(k.stream);
    k.Writes(ptr, kPage + 5);
    sim::Drain();
  });
  CHECK(ended.signal == 0);
  CHECK(ended.errors.empty());
}

TEST_CASE("a kernel that reads stale bytes is told the line that made them so") {
  const int line = __LINE__ + 3;
  const auto deed = [](Kernels& k) {
    const void* const old = k.memory.gpu_data(k.stream);
    k.memory.mutable_cpu_data(Site::Caller(__builtin_FILE(), __builtin_LINE(), "Step"));
    k.Reads(old, kPage + 1);
  };
  CHECK(Report(deed) ==
        "[ferry] [error] FERRY_GUARD: a kernel read byte 4097 of \"w\", which has 12288: the host alone has "
        "it, since Step (kernel_guard_test.cpp:" +
            std::to_string(line) + ") asked for it mutable. Call gpu_data again after that.\n");
}

TEST_CASE("a kernel that touches bytes that are not in use, or that nobody asked for, is told so") {
  CHECK_THAT(Report([](Kernels& k) {
               void* const ptr = k.memory.overwrite_gpu_data(k.stream);
               k.memory.Resize(kPage);
               k.Reads(ptr, kPage);
             }),
             EndsWith("byte 4096 of \"w\", which has 12288: only 4096 of them are in use.\n"));
  CHECK_THAT(Report([](Kernels& k) {
               void* const ptr = k.memory.overwrite_gpu_data(k.stream);
               k.memory.Resize(kPage);
               k.memory.Resize(kBytes);
               k.Writes(ptr, kPage);
             }),
             EndsWith("nobody has asked for it yet. Call mutable_gpu_data for a pointer.\n"));
}

TEST_CASE("what is in front of a block is no byte of the memory") {
  CHECK_THAT(
      Report([](Kernels& k) {
        SyncedMemory small(100, k.device, "small");
        const void* const ptr = small.gpu_data(k.stream);
        small.mutable_cpu_data();
        sim::Launch(k.stream, {static_cast<const std::byte*>(ptr)}, [=] { testing::Touch(ptr, -1); });
        sim::Drain();
      }),
      ContainsSubstring("sim: a kernel touched 0x") && ContainsSubstring(": 1 byte in front of 100 bytes"));
}

TEST_CASE("another device that has the bytes is named") {
  const Ended ended = InChild([] {
    SetPointerGuard(PointerGuard::kOn);
    sim::Reset({.devices = 2});
    const auto first = MakeDevice("sim:0"), second = MakeDevice("sim:1");
    SyncedMemory memory(kPage, *first, "x");
    const Stream on(*first);
    void* const ptr = memory.overwrite_gpu_data(on);
    const void* const there = memory.mutable_gpu_data(Stream::Main(*second));
    sim::Launch(Stream::Main(*second), {BytesAt(there)}, [=] { testing::Touch(there); });
    sim::Drain();
    (void)!write(STDERR_FILENO, "so far\n", 7);
    sim::Launch(on, {BytesAt(ptr)}, [=] { testing::Touch(ptr); });
    sim::Drain();
  });
  CHECK(ended.signal == SIGSEGV);
  CHECK(ended.errors.substr(0, 7) == "so far\n");
  CHECK_THAT(ended.errors, ContainsSubstring("byte 0 of \"x\", which has 4096: sim:1 alone has it, since "));
}

TEST_CASE("the host is told whose device memory it touched, and what to call") {
  CHECK_THAT(
      Report([](Kernels& k) { testing::Touch(k.memory.gpu_data(k.stream), 12); }),
      ContainsSubstring("sim: host code touched 0x") &&
          EndsWith("The host can only use what cpu_data returns. It is byte 12 of \"w\", which has 12288: "
                   "call cpu_data, or mutable_cpu_data to write, for the host.\n"));
}
#endif

TEST_CASE("what each access allows a kernel is allowed") {
  CheckPasses([](Kernels& k) {
    k.Writes(k.memory.overwrite_gpu_data(k.stream), kBytes - 1);
    k.Reads(k.memory.gpu_data(k.stream), kBytes - 1);
    k.memory.cpu_data();
    k.Reads(k.memory.gpu_data(k.stream));
    k.Writes(k.memory.mutable_gpu_data(k.stream));
    k.memory.mutable_cpu_data();
    k.Reads(k.memory.gpu_data(k.stream));
    Array<float> x(1000, k.device), y(1000, k.device);
    Set(Place(k.device), 1.0F, x);
    Set(Place::Cpu(k.device), 1.0F, y);
    Axpy(Place(k.device), 1.0F, x, y);
  });
}

TEST_CASE("a kernel that was queued in time may run after the host's next access") {
  CheckPasses([](Kernels& k) {
    void* const ptr = k.memory.overwrite_gpu_data(k.stream);
    k.Writes(ptr);
    k.memory.Prefetch(Side::kCpu, k.stream);  // from now on the host has them, too
    k.Reads(ptr);
  });
}

TEST_CASE("pages are guarded one by one, and the larger right counts where two parts share one") {
  const auto stale = [](Kernels& k, std::size_t first) {
    void* const ptr = k.memory.overwrite_gpu_data(k.stream);
    k.memory.mutable_cpu_data({first, kBytes - first});
    return ptr;
  };
  CheckPasses([&](Kernels& k) { k.Writes(stale(k, kPage), kPage - 1); });
  CheckPasses([&](Kernels& k) { k.Writes(stale(k, kPage + 8), kPage + 16); });
  CHECK(With([&](Kernels& k) { k.Writes(stale(k, kPage), kPage); }).signal == SIGSEGV);
  CHECK(With([&](Kernels& k) { k.Reads(stale(k, 2 * kPage), kBytes - 1); }).signal == SIGSEGV);
}

TEST_CASE("a block that does not begin with its page is guarded as far as it goes") {
  const Ended ended = InChild([] {
    const Kernels k;
    SyncedMemory small(100, k.device, "small"), large(kPage + 100, k.device, "large");
    void* const first = small.overwrite_gpu_data(k.stream);
    void* const second = large.overwrite_gpu_data(k.stream);
    k.Writes(first, 99), k.Writes(second, kPage + 99);
    small.mutable_cpu_data({0, 50});
    large.mutable_cpu_data({kPage + 50, 50});
    k.Writes(first, 99), k.Writes(second), k.Writes(second, kPage + 99);
    sim::Drain();
    large.gpu_data(k.stream);
    large.mutable_cpu_data({0, 100});  // those on the first page
    k.Reads(first, 99), k.Reads(second, 100);
    sim::Drain();
    (void)!write(STDERR_FILENO, "so far\n", 7);
    k.Reads(second, 50);
    sim::Drain();
  });
  CHECK(ended.signal == SIGSEGV);
  CHECK(ended.errors.substr(0, 7) == "so far\n");
}

TEST_CASE("without the guard, and of memories from before it, kernels touch what their launches name") {
  const auto deed = [](Kernels& k) {
    void* const ptr = k.memory.overwrite_gpu_data(k.stream);
    SetPointerGuard(PointerGuard::kOn);
    k.memory.mutable_cpu_data();
    k.Writes(ptr);
  };
  CheckPasses(deed, PointerGuard::kOff);
}

TEST_CASE("a launch with memory that has ended is misuse, as without the guard") {
  CheckPasses([](Kernels& k) {
    auto memory = std::make_unique<SyncedMemory>(kPage, k.device, "gone");
    void* const ptr = memory->overwrite_gpu_data(k.stream);
    memory.reset();
    try {
      k.Writes(ptr);
      _exit(6);
    } catch (const DeviceError&) {
    }
  });
}

TEST_CASE("a block that a pool hands on is no memory's any more") {
  CheckPasses([](Kernels&) {
    PooledDevice pool(MakeDevice("sim:0"));
    const Stream on(pool);
    const void* gone = nullptr;
    {
      SyncedMemory memory(kPage, pool);
      gone = memory.gpu_data(on);
      memory.mutable_cpu_data();
    }
    void* const own = pool.Allocate(MemoryKind::kDevice, kPage, on.handle());
    if (own != gone) _exit(7);
    sim::Launch(on, {BytesAt(own)}, [=] { *static_cast<volatile char*>(own) = 1; });
    on.Synchronize();
    pool.Deallocate(MemoryKind::kDevice, own, kPage, on.handle());
  });
}

TEST_CASE("kernels are queued while other threads use and end memories") {
  CheckPasses([](Kernels& k) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const Place place{Stream(k.device)};
        for (int i = 0; i < 200; ++i) {
          Array<float> x(64, k.device), y(64, k.device);
          Set(place, 1.0F, x);
          Set(Place::Cpu(k.device), 1.0F, y);
          Axpy(place, 1.0F, x, y);
          static_cast<void>(Place::Cpu(k.device).Read(y));
        }
      });
    for (std::thread& thread : threads) thread.join();
  });
}

}  // namespace
}  // namespace ferry::testing
