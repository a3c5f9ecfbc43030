// SPDX-License-Identifier: BSD-2-Clause
// Compiled with -ffp-contract=off.
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

#include "ferry/kokkos.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

/// A product and a sum, which a compiler may round once instead of twice.
struct MultiplyAdd {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, const float* a, const float* b, const float* c,
                                         float* result) const {
    result[i] = a[i] * b[i] + c[i];
  }
};

TEST_CASE("A kernel that may not be contracted gives what a plain loop gives, whatever the processor",
          "[kernels][no-gpu]") {
  constexpr std::size_t kCount = 100'000;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> a(kCount), b(kCount), c(kCount), plain(kCount);
  for (std::vector<float>* values : {&a, &b, &c})
    for (float& value : *values) value = number(random);
  for (std::size_t i = 0; i < kCount; ++i) plain[i] = a[i] * b[i] + c[i];

  const World world("host cpu");
  Array<float> sums(kCount, world.device());
  ParallelFor(world.place(), kCount, Read(Array<float>(a, world.device())),
              Read(Array<float>(b, world.device())), Read(Array<float>(c, world.device())), Overwrite(sums),
              MultiplyAdd{});
  const std::vector<float> result = ValuesOf(sums);
  std::size_t different = 0;
  for (std::size_t i = 0; i < kCount; ++i) different += result[i] != plain[i];
  CHECK(different == 0);
}

}  // namespace
}  // namespace ferry::testing
