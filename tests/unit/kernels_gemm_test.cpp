// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/kernels/plain_gemm.hpp"
#include "ferry/error.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

struct Case {
  Transpose a, b;
  std::int64_t m, n, k;
};

/// What Gemm promises, as three loops.
template <class T>
std::vector<T> Reference(const Case& c, T alpha, const std::vector<T>& a, const std::vector<T>& b, T beta,
                         std::vector<T> out) {
  const auto at = [](const std::vector<T>& matrix, std::int64_t index) {
    return static_cast<long double>(matrix[static_cast<std::size_t>(index)]);
  };
  for (std::int64_t i = 0; i < c.m; ++i)
    for (std::int64_t j = 0; j < c.n; ++j) {
      long double sum = 0;
      for (std::int64_t l = 0; l < c.k; ++l)
        sum += at(a, c.a == Transpose::kNo ? i * c.k + l : l * c.m + i) *
               at(b, c.b == Transpose::kNo ? l * c.n + j : j * c.k + l);
      T& element = out[static_cast<std::size_t>(i * c.n + j)];
      element = static_cast<T>(alpha * sum + (beta == 0 ? 0 : beta * static_cast<long double>(element)));
    }
  return out;
}

template <class T>
void CheckGemm(const World& world, const Case& c, T alpha, T beta) {
  CAPTURE(c.m, c.n, c.k, c.a, c.b, alpha, beta);
  const std::vector<T> a = Numbers<T>(c.m * c.k, 8), b = Numbers<T>(c.k * c.n, 9),
                       old = Numbers<T>(c.m * c.n, 10);
  const Elements<T> ea(world, a), eb(world, b);
  Elements<T> out(world, old);
  Gemm(world.place(), c.a, c.b, c.m, c.n, c.k, alpha, ea.read(), eb.read(), beta, out.read_write());
  const std::vector<T> expected = Reference(c, alpha, a, b, beta, old), actual = out.values();
  bool right = true;
  for (std::size_t i = 0; i < actual.size(); ++i)
    right &= std::fabs(actual[i] - expected[i]) <= std::numeric_limits<T>::epsilon() * T(4 * (c.k + 2));
  CHECK(right);
}

TEMPLATE_TEST_CASE("Gemm multiplies row-major matrices of every shape and transposition", "[kernels]", float,
                   double) {
  using T = TestType;
  const World world(Everywhere());
  for (const Transpose a : {Transpose::kNo, Transpose::kYes})
    for (const Transpose b : {Transpose::kNo, Transpose::kYes})
      for (const std::int64_t m : {1, 2, 7})
        for (const std::int64_t n : {1, 3, 10})
          for (const std::int64_t k : {0, 1, 5, 64}) {
            CheckGemm<T>(world, {a, b, m, n, k}, T(1), T(0));
            CheckGemm<T>(world, {a, b, m, n, k}, T(-0.5), T(2));
          }
  CheckGemm<T>(world, {Transpose::kNo, Transpose::kYes, 64, 10, 784}, T(1), T(0));
}

TEMPLATE_TEST_CASE("Gemm does not read C where beta is 0", "[kernels]", float, double) {
  using T = TestType;
  const World world(Everywhere());
  const Elements<T> a(world, Numbers<T>(12, 1)), b(world, Numbers<T>(12, 2));
  for (const std::int64_t k : {0, 4}) {
    Elements<T> c(world, std::vector<T>(9, std::numeric_limits<T>::quiet_NaN()));
    Gemm(world.place(), Transpose::kNo, Transpose::kNo, 3, 3, k, T(1), a.read(), b.read(), T(0),
         c.read_write());
    for (const T element : c.values()) CHECK(!std::isnan(element));
  }
}

TEMPLATE_TEST_CASE("The Gemm of devices without BLAS multiplies like the other", "[kernels]", float, double) {
  using T = TestType;
  const World world(Everywhere());
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes})
      for (const T beta : {T(0), T(2)}) {
        const Case c{ta, tb, 7, 10, 64};
        const std::vector<T> a = Numbers<T>(c.m * c.k, 8), b = Numbers<T>(c.k * c.n, 9);
        const std::vector<T> old =
            beta == 0 ? std::vector<T>(70, std::numeric_limits<T>::quiet_NaN()) : Numbers<T>(70, 10);
        const Elements<T> ea(world, a), eb(world, b);
        Elements<T> out(world, old);
        const T *pa = ea.read(), *pb = eb.read();
        T* const pc = out.read_write();
        ParallelFor(world.place(), c.m * c.n, {pa, pb, pc},
                    detail::PlainGemm<T>{ta, tb, c.m, c.n, c.k, T(-0.5), pa, pb, beta, pc});
        const std::vector<T> expected = Reference(c, T(-0.5), a, b, beta, old), actual = out.values();
        bool right = true;
        for (std::size_t i = 0; i < actual.size(); ++i)
          right &= std::fabs(actual[i] - expected[i]) <= std::numeric_limits<T>::epsilon() * T(4 * (c.k + 2));
        CHECK(right);
      }
}

TEST_CASE("Gemm of no rows or columns does nothing, even of null", "[kernels]") {
  const World world(Everywhere());
  const float* const null = nullptr;
  float c = 5;
  Gemm(world.place(), Transpose::kNo, Transpose::kNo, 0, 3, 4, 1.F, null, null, 0.F, &c);
  Gemm(world.place(), Transpose::kNo, Transpose::kNo, 3, 0, 4, 1.F, null, null, 0.F, &c);
  CHECK(c == 5);
}

TEST_CASE("Gemm refuses negative sizes, and those that BLAS cannot count", "[kernels]") {
  const World world(Everywhere());
  float x = 5;
  const auto gemm = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Gemm(world.place(), Transpose::kNo, Transpose::kNo, m, n, k, 1.F, &x, &x, 0.F, &x);
  };
  constexpr std::int64_t kTooMany = std::int64_t{1} << 31;
  CHECK_THROWS_MATCHES(gemm(-1, 1, 1), std::invalid_argument,
                       Catch::Matchers::Message("ferry::Gemm: m, n, k = -1, 1, 1; each must be 0 or more"));
  CHECK_THROWS_AS(gemm(1, -1, 1), std::invalid_argument);
  CHECK_THROWS_AS(gemm(1, 1, -1), std::invalid_argument);
  CHECK_THROWS_MATCHES(gemm(kTooMany, 1, 1), ShapeError,
                       Catch::Matchers::Message("ferry::Gemm: m, n, k = 2147483648, 1, 1; each must be "
                                                "2147483647 at most, for BLAS counts in int"));
  CHECK_THROWS_AS(gemm(1, kTooMany, 1), ShapeError);
  CHECK_THROWS_AS(gemm(1, 1, kTooMany), ShapeError);
  CHECK(x == 5);
}

TEST_CASE("Gemm has the same bits each time", "[kernels][no-gpu]") {
  const World world("host cpu");
  const std::int64_t n = 257;  // large enough for BLAS to use its threads
  const std::vector<float> a = Numbers<float>(n * n, 11), b = Numbers<float>(n * n, 12);
  std::vector<float> first(a.size()), again(a.size());
  const auto multiply = [&](std::vector<float>& c) {
    Gemm(world.place(), Transpose::kNo, Transpose::kYes, n, n, n, 1.F, a.data(), b.data(), 0.F, c.data());
  };
  multiply(first);
  for (int i = 0; i < 20; ++i) {
    multiply(again);
    CHECK(std::memcmp(again.data(), first.data(), a.size() * sizeof(float)) == 0);
  }
}

}  // namespace
}  // namespace ferry::testing
