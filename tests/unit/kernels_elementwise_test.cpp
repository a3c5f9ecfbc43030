// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

/// Whether `actual` is `exact`, as far as T and one rounding more can say it.
template <class T>
bool Near(T actual, long double exact, long double magnitude) {
  return std::fabs(static_cast<long double>(actual) - exact) <=
         static_cast<long double>(std::numeric_limits<T>::epsilon()) * magnitude +
             static_cast<long double>(std::numeric_limits<T>::denorm_min());
}

template <class T>
void CheckElementwise(const World& world, std::int64_t n) {
  CAPTURE(n);
  const T alpha = T(-1.75), beta = T(0.3);
  const std::vector<T> x = Numbers<T>(n, 1), y = Numbers<T>(n, 2);
  Elements<T> ex(world, x), scaled(world, x), added(world, y), both(world, y);
  Scale(world.place(), n, alpha, scaled.read_write());
  Axpy(world.place(), n, alpha, ex.read(), added.read_write());
  Axpby(world.place(), n, alpha, ex.read(), beta, both.read_write());
  const std::vector<T> s = scaled.values(), a = added.values(), b = both.values();
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double ax = static_cast<long double>(alpha) * static_cast<long double>(x[i]);
    const long double by = static_cast<long double>(beta) * static_cast<long double>(y[i]);
    right &= Near(s[i], ax, std::fabs(ax));
    right &= Near(a[i], ax + y[i], std::fabs(ax) + std::fabs(y[i]));
    right &= Near(b[i], ax + by, std::fabs(ax) + std::fabs(by));
  }
  CHECK(right);
  CHECK(ex.values() == x);
}

TEMPLATE_TEST_CASE("Scale, Axpy and Axpby agree with long double for every length", "[kernels]", float,
                   double) {
  const World world(Everywhere());
  for (const std::int64_t n : Sizes()) CheckElementwise<TestType>(world, n);
}

template <class T>
void CheckSetAndCopy(const World& world, std::int64_t n) {
  CAPTURE(n);
  const T value = T(37);
  std::vector<T> expected(static_cast<std::size_t>(n) + 1, T(0));
  Elements<T> set(world, expected), copy(world, expected);
  Set(world.place(), n, value, set.read_write());
  Copy(world.place(), n, set.read(), copy.read_write());
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) expected[i] = value;
  CHECK(set.values() == expected);
  CHECK(copy.values() == expected);
}

TEMPLATE_TEST_CASE("Set and Copy write n elements of any arithmetic type and not one more", "[kernels]",
                   float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, char, wchar_t, char8_t, char16_t, char32_t,
                   long long, unsigned long long) {
  const World world(Everywhere());
  for (const std::int64_t n : {0, 1, 3, 63, 64, 65, 1000, 100003}) CheckSetAndCopy<TestType>(world, n);
}

TEST_CASE("Set and Copy work on bool", "[kernels]") {
  const World world(Everywhere());
  SyncedMemory set(100, world.device()), copy(100, world.device());
  Set(world.place(), 100, true, world.place().Overwrite<bool>(set));
  Copy(world.place(), 100, world.place().Read<bool>(set), world.place().Overwrite<bool>(copy));
  const bool* const flags = static_cast<const bool*>(copy.cpu_data());
  for (int i = 0; i < 100; ++i) CHECK(flags[i]);
}

TEMPLATE_TEST_CASE("x and y may be the same array", "[kernels]", float, double) {
  using T = TestType;
  const World world(Everywhere());
  for (const std::int64_t n : {1, 17, 1000}) {
    const std::vector<T> x = Numbers<T>(n, 3);
    Elements<T> added(world, x), both(world, x), copied(world, x);
    T *a = added.read_write(), *b = both.read_write(), *c = copied.read_write();
    Axpy(world.place(), n, T(2), a, a);
    Axpby(world.place(), n, T(2), b, T(4), b);
    Copy(world.place(), n, c, c);
    const std::vector<T> after_a = added.values(), after_b = both.values();
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(std::fabs(after_a[i] - 3 * x[i]) <= 4 * std::numeric_limits<T>::epsilon());
      CHECK(std::fabs(after_b[i] - 6 * x[i]) <= 8 * std::numeric_limits<T>::epsilon());
    }
    CHECK(copied.values() == x);
  }
}

TEMPLATE_TEST_CASE("NaN, infinity and denormals go through", "[kernels]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const World world(Everywhere());
  std::vector<T> x(100, T(1));
  x[3] = x[77] = Limits::quiet_NaN();
  x[5] = x[98] = Limits::infinity();
  x[7] = x[99] = Limits::denorm_min();
  Elements<T> ex(world, x), scaled(world, x), added(world, std::vector<T>(100, T(0))), none(world, x);
  Scale(world.place(), 100, T(2), scaled.read_write());
  Axpy(world.place(), 100, T(2), ex.read(), added.read_write());
  Scale(world.place(), 100, T(0), none.read_write());
  for (const std::vector<T>& y : {scaled.values(), added.values()}) {
    CHECK(std::isnan(y[3]));
    CHECK(std::isnan(y[77]));
    CHECK(y[5] == Limits::infinity());
    CHECK(y[98] == Limits::infinity());
    CHECK(y[7] == 2 * Limits::denorm_min());
    CHECK(y[99] == 2 * Limits::denorm_min());
  }
  CHECK(std::isnan(none.values()[5]));  // 0 * infinity
}

TEST_CASE("A negative count is refused by the name of what was called", "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  float x = 5;
  const auto says = [](const std::string& call) {
    return Catch::Matchers::Message("ferry::" + call + ": n is -1; it counts elements, and is 0 or more");
  };
  CHECK_THROWS_MATCHES(Set(place, -1, 1.F, &x), std::invalid_argument, says("Set"));
  CHECK_THROWS_MATCHES(Copy(place, -1, &x, &x), std::invalid_argument, says("Copy"));
  CHECK_THROWS_MATCHES(Scale(place, -1, 2.F, &x), std::invalid_argument, says("Scale"));
  CHECK_THROWS_MATCHES(Axpy(place, -1, 2.F, &x, &x), std::invalid_argument, says("Axpy"));
  CHECK_THROWS_MATCHES(Axpby(place, -1, 2.F, &x, 2.F, &x), std::invalid_argument, says("Axpby"));
  CHECK_THROWS_MATCHES(Asum(place, -1, &x), std::invalid_argument, says("Asum"));
  CHECK_THROWS_MATCHES(Sumsq(place, -1, &x), std::invalid_argument, says("Sumsq"));
  CHECK_THROWS_MATCHES(Dot(place, -1, &x, &x), std::invalid_argument, says("Dot"));
  CHECK(x == 5);
}

TEST_CASE("A null pointer is refused by the name of what was called, and by its place there", "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  float x = 5;
  float* const null = nullptr;
  const auto says = [](const std::string& call, const std::string& which) {
    return Catch::Matchers::Message("ferry::" + call + ": pointer " + which +
                                    " is null; take it from place.Read, ReadWrite or Overwrite");
  };
  CHECK_THROWS_MATCHES(Set(place, 1, 1.F, null), std::invalid_argument, says("Set", "1 of 1"));
  CHECK_THROWS_MATCHES(Copy<float>(place, 1, null, &x), std::invalid_argument, says("Copy", "1 of 2"));
  CHECK_THROWS_MATCHES(Scale(place, 1, 2.F, null), std::invalid_argument, says("Scale", "1 of 1"));
  CHECK_THROWS_MATCHES(Axpy<float>(place, 1, 2.F, &x, null), std::invalid_argument, says("Axpy", "2 of 2"));
  CHECK_THROWS_MATCHES(Axpby<float>(place, 1, 2.F, null, 2.F, &x), std::invalid_argument,
                       says("Axpby", "1 of 2"));
  CHECK_THROWS_MATCHES(Asum<float>(place, 1, null), std::invalid_argument, says("Asum", "1 of 1"));
  CHECK_THROWS_MATCHES(Sumsq<float>(place, 1, null), std::invalid_argument, says("Sumsq", "1 of 1"));
  CHECK_THROWS_MATCHES(Dot<float>(place, 1, &x, null), std::invalid_argument, says("Dot", "2 of 2"));
  CHECK_THROWS_MATCHES(Gemm<float>(place, Transpose::kNo, Transpose::kNo, 1, 1, 1, 1, &x, null, 0, &x),
                       std::invalid_argument, says("Gemm", "2 of 3"));
  CHECK(x == 5);
}

TEST_CASE("A count of none does nothing, even of null", "[kernels]") {
  const World world(Everywhere());
  const Place& place = world.place();
  float* const null = nullptr;
  Set(place, 0, 1.F, null);
  Copy<float>(place, 0, null, null);
  Axpy<float>(place, 0, 2.F, null, null);
  Gemm<float>(place, Transpose::kNo, Transpose::kNo, 0, 1, 0, 1, null, null, 0, null);
  CHECK(Sumsq<float>(place, 0, null) == 0);
}

}  // namespace
}  // namespace ferry::testing
