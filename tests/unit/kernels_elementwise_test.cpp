// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <complex>
#include <limits>

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
  Array<T> ex(x, world.device()), scaled(x, world.device()), added(y, world.device()),
      both(y, world.device());
  Scale(world.place(), alpha, scaled);
  Axpy(world.place(), alpha, ex, added);
  Axpby(world.place(), alpha, ex, beta, both);
  const std::vector<T> s = ValuesOf(scaled), a = ValuesOf(added), b = ValuesOf(both);
  bool right = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double ax = static_cast<long double>(alpha) * static_cast<long double>(x[i]);
    const long double by = static_cast<long double>(beta) * static_cast<long double>(y[i]);
    right &= Near(s[i], ax, std::fabs(ax));
    right &= Near(a[i], ax + y[i], std::fabs(ax) + std::fabs(y[i]));
    right &= Near(b[i], ax + by, std::fabs(ax) + std::fabs(by));
  }
  CHECK(right);
  CHECK(ValuesOf(ex) == x);
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
  Array<T> set(expected, world.device()), copy(expected, world.device());
  Set(world.place(), value, set.Slice(0, n));
  Copy(world.place(), set.Slice(0, n), copy.Slice(0, n));
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) expected[i] = value;
  CHECK(ValuesOf(set) == expected);
  CHECK(ValuesOf(copy) == expected);
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
  Array<bool> set(100, world.device()), copy(100, world.device());
  Set(world.place(), true, set);
  Copy(world.place(), set, copy);
  for (const bool flag : Place::Cpu(world.device()).Read(copy)) CHECK(flag);
}

struct Pixel {
  std::uint8_t red, green, blue;
  friend bool operator==(const Pixel&, const Pixel&) = default;
};

TEST_CASE("Copy takes what is no number: structs and complex numbers", "[kernels]") {
  const World world(Everywhere());
  const std::vector<Pixel> pixels(100, {1, 2, 3});
  const std::vector<std::complex<double>> numbers(100, {1, 2});
  Array<Pixel> to(100, world.device());
  Array<std::complex<double>> copy(100, world.device());
  Copy(world.place(), Array<Pixel>(pixels, world.device()), to);
  Copy(world.place(), Array<std::complex<double>>(numbers, world.device()), copy);
  CHECK(ValuesOf(to) == pixels);
  CHECK(ValuesOf(copy) == numbers);
}

TEMPLATE_TEST_CASE("x and y may be the same array", "[kernels]", float, double) {
  using T = TestType;
  const World world(Everywhere());
  for (const std::int64_t n : {1, 17, 1000}) {
    const std::vector<T> x = Numbers<T>(n, 3);
    Array<T> added(x, world.device()), both(x, world.device()), copied(x, world.device());
    Axpy(world.place(), 2, added, added);
    Axpby(world.place(), 2, both, 4, both.Share());
    Copy(world.place(), copied, copied);
    const std::vector<T> after_a = ValuesOf(added), after_b = ValuesOf(both);
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(std::fabs(after_a[i] - 3 * x[i]) <= 4 * std::numeric_limits<T>::epsilon());
      CHECK(std::fabs(after_b[i] - 6 * x[i]) <= 8 * std::numeric_limits<T>::epsilon());
    }
    CHECK(ValuesOf(copied) == x);
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
  Array<T> ex(x, world.device()), scaled(x, world.device()), added(100, world.device()),
      none(x, world.device());
  Scale(world.place(), 2, scaled);
  Axpy(world.place(), 2, ex, added);
  Scale(world.place(), 0, none);
  for (const std::vector<T>& y : {ValuesOf(scaled), ValuesOf(added)}) {
    CHECK(std::isnan(y[3]));
    CHECK(std::isnan(y[77]));
    CHECK(y[5] == Limits::infinity());
    CHECK(y[98] == Limits::infinity());
    CHECK(y[7] == 2 * Limits::denorm_min());
    CHECK(y[99] == 2 * Limits::denorm_min());
  }
  CHECK(std::isnan(ValuesOf(none)[5]));  // 0 * infinity
}

TEST_CASE("Arrays of no elements are left alone", "[kernels]") {
  const World world(Everywhere());
  Array<float> none, empty(0, world.device());
  for (Array<float>* const x : {&none, &empty}) {
    Set(world.place(), 1, *x);
    Copy(world.place(), *x, empty);
    Scale(world.place(), 2, *x);
    Axpy(world.place(), 2, *x, empty);
    Axpby(world.place(), 2, *x, 3, empty);
    CHECK(Asum(world.place(), *x) + Sumsq(world.place(), *x) + Dot(world.place(), *x, empty) == 0);
  }
}

}  // namespace
}  // namespace ferry::testing
