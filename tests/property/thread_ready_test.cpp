// SPDX-License-Identifier: BSD-2-Clause
// Accesses that take no lock, by two threads; only ThreadSanitizer sees what an x86 processor orders anyway.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "ferry/synced_memory.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

/// Threads meet by a relaxed flag, which orders nothing: what the second one reads without a lock is ordered
/// by Ferry's own words alone.
TEST_CASE("a reader that takes no lock sees all that made its bytes ready") {
  for (const bool host : {false, true})
    for (int round = 0; round < 10; ++round) {
      sim::Reset({.seed = static_cast<std::uint64_t>(round)});
      const auto device = MakeSim();
      const SyncedMemory memory(16, *device);
      const auto read = [&] { return host ? memory.cpu_data() : memory.gpu_data(); };
      std::atomic<bool> ready{false};
      const void* found = nullptr;
      std::uint8_t first = 1;
      std::thread reader([&] {
        while (!ready.load(std::memory_order_relaxed)) std::this_thread::yield();
        found = read();
        if (host) first = *static_cast<const std::uint8_t*>(found);
      });
      const void* const made = read();
      ready.store(true, std::memory_order_relaxed);
      reader.join();
      CHECK(found == made);
      CHECK(first == (host ? 0 : 1));
    }
}

}  // namespace
}  // namespace ferry::testing
