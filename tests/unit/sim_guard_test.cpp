// SPDX-License-Identifier: BSD-2-Clause
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <vector>

#include "backends/sim/memory.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"
#include "sim_child.hpp"
#include "sim_fixture.hpp"
#include "tests/property/scale.hpp"
#include "tests/sanitized.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kSizes[] = {1, 4, 100, 4096, 5000, 8192, 100'000};
constexpr MemoryKind kHostVisible[] = {MemoryKind::kPinnedHost, MemoryKind::kManaged};
constexpr std::size_t kGuarded = sim::Memory::kGuarded;

std::byte* New(SimWorld& world, MemoryKind kind, std::size_t bytes) {
  return static_cast<std::byte*>(world.device.Allocate(kind, bytes, world.main.handle()));
}

TEST_CASE("the byte behind a block is out of reach, and its last one is not, with neighbours or without") {
  SimWorld world;
  struct Made {
    std::byte* block;
    std::size_t bytes;
  };
  std::vector<Made> all;
  for (int round = 0; round < 10; ++round)
    for (const std::size_t bytes : kSizes)
      for (const MemoryKind kind : kHostVisible) all.push_back({New(world, kind, bytes), bytes});
  for (const Made& made : all) {
    Touch(made.block + made.bytes - 1);
    CHECK(SignalOf([&] { Touch(made.block + made.bytes); }) == SIGSEGV);
  }
}

TEST_CASE("a kernel cannot touch the byte behind a block") {
  SimWorld world;
  for (const std::size_t bytes : kSizes) {
    std::byte* const block = world.NewDevice(world.main, bytes);
    const auto touch = [&](std::size_t at) {
      sim::Launch(world.main, {block}, [=] { Touch(block, static_cast<std::ptrdiff_t>(at)); });
      sim::Drain();
    };
    CHECK(SignalOf([&] { touch(bytes - 1); }) == 0);
    CHECK(SignalOf([&] { touch(bytes); }) == SIGSEGV);
  }
}

TEST_CASE("blocks are aligned as their elements need, and to 256 bytes where that is asked for") {
  for (const bool to_256 : {false, true}) {
    SimWorld world({.align_to_256 = to_256});
    for (const std::size_t bytes : {1U, 12U, 100U, 768U, 4096U, 5000U, 5120U}) {
      const std::size_t natural = std::min<std::size_t>(bytes & (~bytes + 1), 256);
      for (const auto kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged})
        CHECK(reinterpret_cast<std::uintptr_t>(New(world, kind, bytes)) % (to_256 ? 256 : natural) == 0);
    }
  }
}

TEST_CASE("what was written around a block is reported when it is freed") {
  for (const bool behind : {false, true})
    for (const MemoryKind kind : kHostVisible) {
      SimWorld world({.align_to_256 = true});
      std::byte* const block = New(world, kind, 100);
      block[behind ? 100 : -1] = std::byte{1};
      world.Free(kind, block, world.main, 100);
      CHECK(Contains(OnlyMisuse(), behind ? "somebody wrote behind the end of the memory made by Malloc"
                                          : "somebody wrote in front of the memory made by Malloc"));
    }
}

TEST_CASE("blocks without a page of their own behind them have canaries, and are aligned") {
  for (const std::ptrdiff_t at : {-256, -1, 100, 355}) {
    SimWorld world({.align_to_256 = true});
    for (std::size_t i = 0; i < kGuarded; ++i) world.NewPinned();
    std::byte* const block = world.NewPinned(100);
    std::byte* const next = world.NewPinned(100);
    CHECK(next - block < 4096);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 256 == 0);
    CHECK(std::count(block, block + 100, std::byte{0xA5}) == 100);
    block[at] = std::byte{1};
    world.Free(MemoryKind::kPinnedHost, next, world.main, 100);
    CHECK(sim::Inspect().misuse.empty());
    world.Free(MemoryKind::kPinnedHost, block, world.main, 100);
    CHECK(Contains(OnlyMisuse(), at < 0 ? "in front of" : "behind the end of"));
  }
}

TEST_CASE("without page protection all memory is within reach, and canaries are compared") {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    SimWorld world({.page_protection = false});
    std::byte* const block = New(world, kind, 100);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 256 == 0);
    sim::Launch(world.main, {block}, [=] { block[99] = std::byte{7}; });
    sim::Drain();
    CHECK(SignalOf([&] { Touch(block, 100); }) == 0);
    CHECK(block[99] == std::byte{7});
    block[100] = std::byte{1};
    world.Free(kind, block, world.main, 100);
    sim::Drain();
    CHECK(Contains(OnlyMisuse(), "behind the end of"));
  }
  SimWorld protects;
  std::byte* const block = New(protects, MemoryKind::kDevice, 100);
  CHECK(SignalOf([&] { Touch(block); }) == SIGSEGV);
}

TEST_CASE("without page protection a kernel leaves all pages as they were, those too that it only reads") {
  SimWorld world({.page_protection = false});
  std::byte* const block = world.NewDevice(world.main);
  const std::byte* const other = world.NewDevice(world.main);
  sim::Launch(world.main, {static_cast<const std::byte*>(block), other}, [=] { Touch(block), Touch(other); });
  sim::Drain();
  CHECK(sim::Inspect().kernel_errors.empty());
  CHECK(SignalOf([&] { block[0] = std::byte{1}; }) == 0);
}

TEST_CASE("guards that were given back serve the next blocks") {
  SimWorld world;
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i <= kGuarded; ++i) blocks.push_back(world.NewPinned());
  CHECK(SignalOf([&] { Touch(blocks.back(), kBytes); }) == 0);
  world.Free(MemoryKind::kPinnedHost, blocks.front(), world.main);
  std::byte* const next = world.NewPinned();
  CHECK(SignalOf([&] { Touch(next, kBytes); }) == SIGSEGV);
}

TEST_CASE("a hundred thousand memories may live at once, on either side") {
  sim::Reset();
  auto device = MakeDevice("sim");
  // At least more than a mapping each would allow.
  const int count = std::max(40'000, static_cast<int>(100'000 * std::min(1.0, Scale())));
  std::vector<std::unique_ptr<SyncedMemory>> memories;
  for (int i = 0; i < count; ++i) {
    memories.push_back(std::make_unique<SyncedMemory>(sizeof(int), *device));
    *static_cast<int*>(memories.back()->overwrite_cpu_data()) = i;
    (void)memories.back()->mutable_gpu_data();
  }
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += *static_cast<const int*>(memories[static_cast<std::size_t>(i)]->cpu_data()) != i;
  CHECK(wrong == 0);
  memories.clear();
  device.reset();
  sim::Drain();
  CHECK(sim::Inspect().misuse.empty());
  CHECK(sim::Inspect().leaks.empty());
}

/// Leaves the process no more than a few memory mappings while it lives.
class MappingsSpent {
 public:
  MappingsSpent() {
    void* const all =
        mmap(nullptr, kPages * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return;
    pages_ = static_cast<std::byte*>(all);
    std::size_t page = 1;
    while (page < kPages && mprotect(pages_ + page * kPage, kPage, PROT_READ) == 0) page += 2;
    spent_ = page < kPages;
    (void)mprotect(pages_, std::min(kLeft, kPages) * kPage, PROT_NONE);
  }
  ~MappingsSpent() {
    if (pages_ != nullptr) munmap(pages_, kPages * kPage);
  }
  MappingsSpent(const MappingsSpent&) = delete;
  MappingsSpent& operator=(const MappingsSpent&) = delete;
  bool spent() const { return spent_; }

 private:
  static constexpr std::size_t kPage = 4096, kPages = 200'000, kLeft = 64;
  std::byte* pages_ = nullptr;
  bool spent_ = false;
};

TEST_CASE(
    "where the system has no mappings left, allocations go on, and a kernel that needs them fails in words") {
  if (kThreadSanitized) SKIP("ThreadSanitizer needs mappings itself");
  SimWorld world;
  std::vector<ferry::Touch> blocks;
  for (int i = 0; i < 300; ++i) blocks.emplace_back(world.NewDevice(world.main));
  bool ran = false;
  std::vector<std::byte*> pinned(200);
  {
    const MappingsSpent most;
    if (!most.spent()) SKIP("the system's limit is higher than this test goes");
    for (std::byte*& block : pinned) {
      block = world.NewPinned();
      block[0] = block[kBytes - 1] = std::byte{1};
    }
    sim::Launch(world.main, blocks, [&] { ran = true; });
    sim::Drain();
  }
  CHECK_FALSE(ran);
  for (std::byte* const block : pinned) world.Free(MemoryKind::kPinnedHost, block, world.main);
  CHECK(sim::Inspect().misuse.empty());
  const auto errors = sim::Inspect().kernel_errors;
  REQUIRE(errors.size() == 1);
  CHECK(errors.front() ==
        "Launch (after call 501): its memory needs more mappings than vm.max_map_count allows");
}

}  // namespace
}  // namespace ferry::testing
