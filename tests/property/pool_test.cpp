// SPDX-License-Identifier: BSD-2-Clause
// Memories that come and go on streams that come and go, all from one pool: no byte is shared by two of them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>

#include "ferry/pooled_device.hpp"
#include "scale.hpp"
#include "world.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kBytes = 16;

bool Holds(const void* ptr, int value) {
  const auto* const bytes = static_cast<const unsigned char*>(ptr);
  return std::all_of(bytes, bytes + kBytes, [value](unsigned char byte) { return byte == value; });
}

/// One memory's life: written on either side, read on either, gone with its work still queued.
void Live(Device& pool, std::optional<Stream>& shared, std::mt19937& random, int value) {
  const Stream brief(pool);
  if (!shared || random() % 4 == 0) shared = brief;
  SyncedMemory memory(kBytes, pool);
  if (random() % 3 == 0) {
    std::memset(memory.overwrite_cpu_data(), value, kBytes);
  } else {
    void* const ptr = memory.overwrite_gpu_data(brief);
    sim::Launch(brief, {ptr}, [=] { std::memset(ptr, value, kBytes); });
  }
  const Stream reader = random() % 3 == 0 ? Stream::Main(pool) : random() % 2 == 0 ? *shared : brief;
  if (random() % 4 == 0) {
    if (!Holds(memory.cpu_data(), value)) throw std::runtime_error("a block is not ours alone on the host");
  } else {
    const void* const ptr = memory.gpu_data(reader);
    sim::Launch(reader, {ptr}, [=] {
      if (!Holds(ptr, value)) throw std::runtime_error("a block is not ours alone on the device");
    });
  }
}

TEST_CASE("memories that come and go from one pool never share a byte") {
  const auto rounds = static_cast<unsigned>(300 * std::max(Scale(), 0.1));
  for (unsigned seed = 0; seed < rounds; ++seed) {
    INFO("seed " << seed);
    sim::Reset({.seed = seed, .unified = seed % 4 == 3});
    {
      PooledDevice pool(MakeSim());
      std::optional<Stream> shared;
      std::mt19937 random(seed);
      for (int value = 1; value <= 40; ++value) Live(pool, shared, random, value);
    }
    REQUIRE(Complaint() == "");
  }
}

}  // namespace
}  // namespace ferry::testing
