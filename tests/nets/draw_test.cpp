// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/draw.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace ferry::detail {
namespace {

using Catch::Approx;

/// The method by the C library.
std::array<double, 2> BoxMuller(std::uint32_t distance, std::uint32_t angle) {
  const double radius = std::sqrt(-2 * std::log(1 - distance * 0x1p-32));
  const double x = std::numbers::pi * (angle * 0x1p-32 - 0.5);
  return {radius * std::sin(x), radius * (angle % 2 == 0 ? std::cos(x) : -std::cos(x))};
}

TEST_CASE("Normal numbers are those of Box and Muller for all bits", "[draw]") {
  std::vector<std::uint32_t> words{0, 1, 2, 3, 0xFFFFFFFF, 0xFFFFFFFE};
  for (unsigned shift = 2; shift < 32; ++shift)
    for (const std::uint32_t more : {0U, 1U}) words.push_back((1U << shift) - more);
  for (std::uint64_t i = 0; i < 200; ++i) words.push_back(Philox({5, 6, 7}).At(i).word[0]);
  for (const std::uint32_t distance : words)
    for (const std::uint32_t angle : words) {
      const NormalPair normals = Normals(distance, angle);
      const auto expected = BoxMuller(distance, angle);
      REQUIRE(normals.first == Approx(expected[0]).epsilon(1e-14).margin(1e-14));
      REQUIRE(normals.second == Approx(expected[1]).epsilon(1e-14).margin(1e-14));
    }
}

template <class T, class Elements>
std::vector<T> Drawn(const Elements& elements, std::size_t n, const RandomKey& key = {1, 2, 3}) {
  std::vector<T> values(n + 1, T(-99));
  Draw(Philox(key), elements, std::span(values).first(n));
  CHECK(values.back() == T(-99));
  values.pop_back();
  return values;
}

double MeanOf(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double value : values) sum += std::pow(value, power);
  return sum / static_cast<double>(values.size());
}
double MeanProduct(const std::vector<double>& values, std::size_t distance) {
  double sum = 0;
  for (std::size_t i = distance; i < values.size(); ++i) sum += values[i] * values[i - distance];
  return sum / static_cast<double>(values.size() - distance);
}

// The bounds are five standard deviations of what is estimated.
TEST_CASE("Drawn normal numbers have the moments of the normal distribution", "[draw]") {
  constexpr double kCount = 200000;
  const auto values = Drawn<double>(NormalElements<double>{0, 1}, static_cast<std::size_t>(kCount));
  CHECK(std::abs(MeanOf(values, 1)) < 5 * std::sqrt(1 / kCount));
  CHECK(std::abs(MeanOf(values, 2) - 1) < 5 * std::sqrt(2 / kCount));
  CHECK(std::abs(MeanOf(values, 3)) < 5 * std::sqrt(15 / kCount));
  CHECK(std::abs(MeanOf(values, 4) - 3) < 5 * std::sqrt(96 / kCount));
  for (std::size_t distance = 1; distance < 9; ++distance)
    CHECK(std::abs(MeanProduct(values, distance)) < 5 * std::sqrt(1 / kCount));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  CHECK(*least < -3.5);
  CHECK(*most > 3.5);
  CHECK(*most < 7);
}

TEST_CASE("Drawn uniform numbers fill the range evenly", "[draw]") {
  constexpr double kCount = 200000;
  const auto values = Drawn<double>(UniformElements<double>{-1, 1}, static_cast<std::size_t>(kCount));
  CHECK(std::abs(MeanOf(values, 1)) < 5 * std::sqrt(1.0 / 3 / kCount));
  CHECK(std::abs(MeanOf(values, 2) - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / kCount));
  for (std::size_t distance = 1; distance < 9; ++distance)
    CHECK(std::abs(MeanProduct(values, distance)) < 5 * std::sqrt(1.0 / 9 / kCount));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  CHECK(*least >= -1);
  CHECK(*least < -0.9999);
  CHECK(*most <= 1);
  CHECK(*most > 0.9999);
}

TEMPLATE_TEST_CASE("Fewer elements are the first of more", "[draw]", float, double) {
  constexpr std::size_t kMost = 100;
  const auto normal = Drawn<TestType>(NormalElements<TestType>{3, 0.5}, kMost);
  const auto uniform = Drawn<TestType>(UniformElements<TestType>{-2, 6}, kMost);
  for (std::size_t n = 0; n < kMost; ++n) {
    const auto fewer_normal = Drawn<TestType>(NormalElements<TestType>{3, 0.5}, n);
    const auto fewer_uniform = Drawn<TestType>(UniformElements<TestType>{-2, 6}, n);
    for (std::size_t i = 0; i < n; ++i) {  // a processor may round the last elements otherwise
      REQUIRE(static_cast<double>(fewer_normal[i]) == Approx(static_cast<double>(normal[i])).epsilon(1e-6));
      REQUIRE(static_cast<double>(fewer_uniform[i]) == Approx(static_cast<double>(uniform[i])).epsilon(1e-6));
    }
  }
}

TEST_CASE("Other keys draw other numbers", "[draw]") {
  const auto one = Drawn<float>(NormalElements<float>{0, 1}, 8);
  CHECK(one == Drawn<float>(NormalElements<float>{0, 1}, 8));
  for (const RandomKey& key : {RandomKey{9, 2, 3}, RandomKey{1, 9, 3}, RandomKey{1, 2, 9}})
    CHECK(one != Drawn<float>(NormalElements<float>{0, 1}, 8, key));
}

TEMPLATE_TEST_CASE("A uniform number is within its range for all bits, and more than 0", "[draw]", float,
                   double) {
  TestType drawn[4];
  UniformElements<TestType>{0, 1}({{0, 1, 0xFFFFFFFE, 0xFFFFFFFF}}, drawn);
  CHECK((drawn[0] > 0 && drawn[1] > drawn[0] && drawn[3] >= drawn[2] && drawn[3] <= 1));
  for (int i = 1; i < 10000; ++i) {
    const TestType limit = std::sqrt(TestType(3) / static_cast<TestType>(i));
    UniformElements<TestType>{-limit, limit}({{0, 1, 0xFFFFFFFE, 0xFFFFFFFF}}, drawn);
    REQUIRE((drawn[0] >= -limit && drawn[3] <= limit));
  }
}

TEST_CASE("A range from the least to the largest float is filled", "[draw]") {
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const float value : Drawn<float>(UniformElements<float>{-kMost, kMost}, 1000))
    CHECK(std::isfinite(value));
  for (const float value : Drawn<float>(UniformElements<float>{2, 2}, 9)) CHECK(value == 2);
}

}  // namespace
}  // namespace ferry::detail
