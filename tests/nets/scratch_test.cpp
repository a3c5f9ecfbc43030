// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "ferry/kokkos.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {
namespace {

using detail::Scratch;
using ferry::testing::World;

TEST_CASE("Scratches of a device share one array in a thread", "[scratch]") {
  const World world("host cpu"), other("sim stream");
  Scratch<float> one(world.device()), two(world.device()), elsewhere(other.device());
  const detail::Part first = one.Take(100), second = two.Take(50);
  CHECK(first.memory == second.memory);
  CHECK(first.memory->label() == "scratch of layers");
  CHECK(second.count == 50);
  CHECK(second.range.bytes == 50 * sizeof(float));
  CHECK(second.range.first == 0);
  CHECK(elsewhere.Take(50).memory != first.memory);
  const SyncedMemory* in_thread = nullptr;
  std::thread([&] { in_thread = two.Take(50).memory; }).join();
  CHECK(in_thread != first.memory);
}

TEST_CASE("A scratch grows for whoever asks for more, and is gone with the last", "[scratch]") {
  const World world("sim stream");
  const std::size_t before = GetStatistics(world.device()).live_bytes;
  {
    Scratch<double> small(world.device()), large(world.device());
    for (Scratch<double>* const scratch : {&small, &large, &small}) {
      const detail::Part part = scratch->Take(scratch == &large ? 4096 : 16);
      ParallelFor(
          world.place(), part.count, Operand<double>(part, Access::kOverwrite),
          KOKKOS_LAMBDA(std::int64_t i, double* x) { x[i] = 1; });
    }
    CHECK(GetStatistics(world.device()).live_bytes >= before + 4096 * sizeof(double));
    CHECK(small.Take(16).memory == large.Take(4096).memory);
  }
  CHECK(GetStatistics(world.device()).live_bytes == before);
}

}  // namespace
}  // namespace ferry::nets_test
