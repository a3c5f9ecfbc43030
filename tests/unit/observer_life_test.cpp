// SPDX-License-Identifier: BSD-2-Clause
// What observers are told of memories and blocks that begin, end, or get another size.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"
#include "observer_fixture.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("Memories and blocks are told from birth to end") {
  ObserverFixture f;
  const Watch watch(f.notes);
  int born = 0;
  const void* here = nullptr;
  {
    SyncedMemory memory(64, *f.device, "x");
    born = __LINE__ - 1;
    here = memory.gpu_data();
    memory.cpu_data();
    memory.Release(Side::kGpu);
  }
  const auto& lives = f.notes->lives;
  using What = LifeRecord::What;
  REQUIRE(lives.size() == 6);
  CHECK((lives[0].what == What::kMemory && lives[0].begins && lives[0].site->line() == born));
  CHECK((lives[1].what == What::kBlock && lives[1].begins && lives[1].device == f.device.get() &&
         lives[1].first == here));
  CHECK((lives[2].what == What::kBlock && lives[2].begins && lives[2].device == nullptr &&
         lives[2].bytes == 64));
  CHECK((lives[3].what == What::kBlock && !lives[3].begins && lives[3].evicted && lives[3].first == here));
  CHECK((lives[4].what == What::kBlock && !lives[4].begins && !lives[4].evicted));
  CHECK((lives[5].what == What::kMemory && !lives[5].begins));
}

TEST_CASE("An Assign that gives a memory another size is told as an access of that size") {
  const bool there = GENERATE(false, true);
  const std::size_t size = GENERATE(std::size_t{8}, std::size_t{64});
  ObserverFixture f;
  SyncedMemory from(64, *f.device), to(64, *f.device);
  there ? from.overwrite_gpu_data() : from.overwrite_cpu_data();
  to.Resize(16);
  const Watch watch(f.notes);
  to.Assign(from, size);
  std::vector<std::size_t> written;
  for (const AccessRecord& access : f.notes->accesses)
    if (access.memory == &to) written.push_back(access.range.bytes);
  CHECK(written == std::vector<std::size_t>{size});
}

TEST_CASE("Blocks that a program gives are told, too, as adopted") {
  ObserverFixture f;
  alignas(64) std::array<std::byte, 64> bytes{};
  SyncedMemory memory(64, *f.device, "x");
  void* const there = f.device->Allocate(MemoryKind::kDevice, 64, f.device->properties().main_stream);
  memory.cpu_data();
  int gave = 0;
  {
    const Watch watch(f.notes);
    memory.set_cpu_data(bytes.data());
    gave = __LINE__ - 1;
    memory.set_gpu_data(there);
    memory.Release(Side::kGpu);
    memory.Resize(32);  // which the block outlives as it is
    memory.set_const_cpu_data(bytes.data());
  }
  f.device->Deallocate(MemoryKind::kDevice, there, 64, f.device->properties().main_stream);
  std::vector<std::string> told;
  for (const LifeRecord& life : f.notes->lives)
    told.push_back(std::string(life.adopted ? "adopted " : "own ") +
                   (life.device != nullptr ? "gpu" : "cpu") +
                   (life.begins    ? " begins"
                    : life.evicted ? " goes"
                                   : " ends") +
                   (life.first != nullptr ? ", " : "? ") + std::to_string(life.bytes));
  CHECK(told == std::vector<std::string>{"own cpu ends, 64", "adopted cpu begins, 64",
                                         "adopted gpu begins, 64", "adopted gpu goes, 64",
                                         "adopted cpu ends, 64", "adopted cpu begins, 32"});
  CHECK((f.notes->lives[1].site->line() == gave && f.notes->lives[1].first == bytes.data() &&
         !f.notes->lives[4].site));
}

}  // namespace
}  // namespace ferry::testing
