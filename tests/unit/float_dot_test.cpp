// SPDX-License-Identifier: BSD-2-Clause
#include "core/kernels/float_dot.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace ferry::detail;

namespace {

constexpr std::int64_t kSizes[] = {0, 1, 31, 32, 33, 64, 95, 8191, 20000};

std::vector<float> Random(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> numbers(20000);
  for (float& number : numbers) number = between(random);
  return numbers;
}

}  // namespace

TEST_CASE("A sum of products of floats is exact to the bound of its lanes, with each instruction set") {
  const auto set = GENERATE(InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512);
  if (set > BestInstructionSet()) SKIP("not on this processor");
  const std::vector<float> x = Random(1), y = Random(2);
  for (const std::int64_t n : kSizes) {
    CAPTURE(n);
    long double exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      exact += static_cast<long double>(x[i]) * y[i];
      magnitude += std::fabs(static_cast<long double>(x[i]) * y[i]);
    }
    const auto bound = (static_cast<long double>(n) / 32 + 6) * 0x1p-53L * magnitude;
    CHECK(std::fabs(SumOfProducts(n, x.data(), y.data(), set) - exact) <= bound);
  }
}

TEST_CASE("A sum of products of floats has the same bits with each instruction set and at each alignment") {
  const auto set = GENERATE(InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512);
  if (set > BestInstructionSet()) SKIP("not on this processor");
  const std::vector<float> x = Random(3), y = Random(4);
  for (const std::int64_t n : kSizes) {
    const double sum = SumOfProducts(n, x.data(), y.data(), InstructionSet::kBaseline);
    for (std::ptrdiff_t shift = 0; shift < 16; ++shift) {
      std::vector<float> shifted(static_cast<std::size_t>(shift));
      shifted.insert(shifted.end(), x.begin(), x.begin() + n);
      CHECK(SumOfProducts(n, shifted.data() + shift, y.data(), set) == sum);
    }
  }
}

TEST_CASE("Products that no float holds are summed, and cancel") {
  const auto set = GENERATE(InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512);
  if (set > BestInstructionSet()) SKIP("not on this processor");
  const float huge = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  std::vector<float> x(100, huge), y(100, huge);
  CHECK(SumOfProducts(100, x.data(), y.data(), set) == 100 * (double{huge} * double{huge}));
  for (std::size_t i = 0; i < 100; i += 2) y[i] = -huge;
  CHECK(SumOfProducts(100, x.data(), y.data(), set) == 0);
  x.assign(100, least);
  CHECK(SumOfProducts(100, x.data(), x.data(), set) == 100 * (double{least} * double{least}));
}
