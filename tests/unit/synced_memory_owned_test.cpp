// SPDX-License-Identifier: BSD-2-Clause
// Bytes that a memory is given, and would free itself.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <optional>
#include <stdexcept>

#include "ferry/synced_memory.hpp"
#include "synced_memory_device.hpp"

namespace ferry::testing {
namespace {

using Catch::Matchers::Message;

struct OwnedFixture {
  explicit OwnedFixture(bool unified = false) : device(unified) { memory.emplace(4, device), device.Take(); }
  LogDevice device;
  Stream a{device};
  std::array<unsigned char, 4> mine{1, 2, 3, 4};
  std::optional<SyncedMemory> memory;
};

/// What must be refused for `ptr`, which may be given with a deleter or without, and to either side.
void CheckRefused(OwnedFixture& f, void* ptr) {
  const Head head = f.memory->head();
  int deleted = 0;
  f.device.Take();
  for (const SyncedMemory::Deleter& deleter :
       {SyncedMemory::Deleter{}, SyncedMemory::Deleter{[&](void*) { ++deleted; }}}) {
    CHECK_THROWS_MATCHES(f.memory->set_cpu_data(ptr, deleter), std::invalid_argument,
                         Message("SyncedMemory::set_cpu_data: the pointer is to bytes that this memory owns "
                                 "and would free; give it bytes of another owner"));
    CHECK_THROWS_MATCHES(f.memory->set_gpu_data(ptr, f.a, deleter), std::invalid_argument,
                         Message("SyncedMemory::set_gpu_data: the pointer is to bytes that this memory owns "
                                 "and would free; give it bytes of another owner"));
  }
  CHECK(f.memory->head() == head);
  CHECK(deleted == 0);
  CHECK(f.device.Take().empty());
}

TEST_CASE("a memory refuses bytes that it would free itself") {
  for (const bool unified : {false, true}) {
    OwnedFixture f(unified);
    auto* const cpu = static_cast<unsigned char*>(f.memory->mutable_cpu_data());
    CheckRefused(f, cpu);
    CheckRefused(f, cpu + 3);
    CheckRefused(f, f.memory->mutable_gpu_data(f.a));
    CHECK(f.memory->Owns(cpu + 3));
    CHECK_FALSE(f.memory->Owns(cpu + 4));
    CHECK_FALSE(f.memory->Owns(nullptr));
    CHECK_NOTHROW(f.memory->set_cpu_data(f.mine.data()));
  }
}

TEST_CASE("a memory refuses bytes that it has a deleter for") {
  for (const bool unified : {false, true}) {
    OwnedFixture f(unified);
    int deleted = 0;
    f.memory->set_cpu_data(f.mine.data(), [&](void*) { ++deleted; });
    CheckRefused(f, f.mine.data());
    CheckRefused(f, f.mine.data() + 3);
    f.memory.reset();
    CHECK(deleted == 1);
  }
}

TEST_CASE("the caller's own bytes may come again, and may come with a deleter then") {
  OwnedFixture f;
  int deleted = 0;
  f.memory->set_cpu_data(f.mine.data());
  f.memory->set_cpu_data(f.mine.data());
  f.memory->set_cpu_data(f.mine.data(), [&](void*) { ++deleted; });
  CHECK(deleted == 0);
  CHECK(Bytes(f.memory->cpu_data(), 4) == std::vector{1, 2, 3, 4});
  f.memory.reset();
  CHECK(deleted == 1);
}

}  // namespace
}  // namespace ferry::testing
