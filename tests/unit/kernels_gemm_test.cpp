// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/kernels/plain_gemm.hpp"
#include "ferry/detail/kokkos/series.hpp"
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
  const Array<T> ea(a, world.device()), eb(b, world.device());
  Array<T> out(old, world.device());
  Gemm(world.place(), c.a, c.b, c.m, c.n, c.k, alpha, ea, eb, beta, out);
  const std::vector<T> expected = Reference(c, alpha, a, b, beta, old), actual = ValuesOf(out);
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
  const Array<T> a(Numbers<T>(12, 1), world.device()), b(Numbers<T>(12, 2), world.device());
  for (const std::int64_t k : {0, 4}) {
    Array<T> c(std::vector<T>(9, std::numeric_limits<T>::quiet_NaN()), world.device());
    Gemm(world.place(), Transpose::kNo, Transpose::kNo, 3, 3, k, 1, a.Slice(0, 3 * k), b.Slice(0, 3 * k), 0,
         c);
    for (const T element : ValuesOf(c)) CHECK(!std::isnan(element));
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
        const Array<T> ea(a, world.device()), eb(b, world.device());
        Array<T> out(old, world.device());
        const int m = static_cast<int>(c.m), n = static_cast<int>(c.n), k = static_cast<int>(c.k);
        const detail::IntGemmSizes sizes{
            ta, tb, m, n, k, ta == Transpose::kNo ? k : m, tb == Transpose::kNo ? n : k, n};
        ParallelFor(world.place(), c.m * c.n, Read(ea), Read(eb), ReadWrite(out),
                    detail::PlainGemm<T>{sizes, T(-0.5), beta});
        const std::vector<T> expected = Reference(c, T(-0.5), a, b, beta, old), actual = ValuesOf(out);
        bool right = true;
        for (std::size_t i = 0; i < actual.size(); ++i)
          right &= std::fabs(actual[i] - expected[i]) <= std::numeric_limits<T>::epsilon() * T(4 * (c.k + 2));
        CHECK(right);
      }
}

TEST_CASE("Gemm leaves alone what is between the rows of its matrices", "[kernels]") {
  const World world(Everywhere());
  constexpr std::int64_t kM = 3, kN = 4, kK = 2, kRow = 7;
  const std::vector<float> all = Numbers<float>(3 * kRow * 4, 8);
  const Array<float> a(all, world.device()), b(all, world.device());
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes})
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
      Array<float> c(all, world.device());
      const auto part = [&](const Array<float>& of, std::int64_t rows, std::int64_t columns) {
        return detail::MakePart(of.Slice(1, (rows - 1) * kRow + columns));
      };
      const bool plain_a = ta == Transpose::kNo, plain_b = tb == Transpose::kNo;
      const auto multiply = [sizes = detail::IntGemmSizesOf({ta, tb, kM, kN, kK}, {kRow, kRow, kRow})](
                                const detail::Series& series, const float* x, const float* y, float* z) {
        series.Gemm(sizes, 1.0F, x, y, 1.0F, z);
      };
      detail::RunSeries(world.place(), multiply,
                        Operand<const float>(part(a, plain_a ? kM : kK, plain_a ? kK : kM), Access::kRead),
                        Operand<const float>(part(b, plain_b ? kK : kN, plain_b ? kN : kK), Access::kRead),
                        Operand<float>(part(c, kM, kN), Access::kReadWrite));
      std::vector<float> expected = all;
      const auto at = [](std::int64_t row, std::int64_t column) {
        return static_cast<std::size_t>(1 + row * kRow + column);
      };
      for (std::int64_t i = 0; i < kM; ++i)
        for (std::int64_t j = 0; j < kN; ++j)
          for (std::int64_t l = 0; l < kK; ++l)
            expected[at(i, j)] += all[plain_a ? at(i, l) : at(l, i)] * all[plain_b ? at(l, j) : at(j, l)];
      const std::vector<float> actual = ValuesOf(c);
      for (std::size_t i = 0; i < actual.size(); ++i) CHECK(std::fabs(actual[i] - expected[i]) <= 1e-5F);
    }
}

TEST_CASE("Gemm of no products scales C, and not what is between its rows", "[kernels]") {
  const World world(Everywhere());
  constexpr std::int64_t kRow = 5;
  const auto scale = [](float beta) {
    return
        [beta, sizes = detail::IntGemmSizesOf({Transpose::kNo, Transpose::kNo, 2, 3, 0}, {kRow, kRow, kRow})](
            const detail::Series& series, float* z) {
          const float* const none = nullptr;
          series.Gemm(sizes, 1.0F, none, none, beta, z);
        };
  };
  Array<float> c(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, world.device());
  detail::RunSeries(world.place(), scale(2), ReadWrite(c));
  CHECK(ValuesOf(c) == std::vector<float>{2, 4, 6, 4, 5, 12, 14, 16});
  detail::RunSeries(world.place(), scale(0), ReadWrite(c));
  CHECK(ValuesOf(c) == std::vector<float>{0, 0, 0, 4, 5, 0, 0, 0});
}

TEST_CASE("Gemm of no rows or columns does nothing", "[kernels]") {
  const World world(Everywhere());
  const Array<float> some(12, world.device());
  Array<float> none;
  Gemm(world.place(), Transpose::kNo, Transpose::kNo, 0, 3, 4, 1, Array<float>(), some, 0, none);
  Gemm(world.place(), Transpose::kNo, Transpose::kNo, 3, 0, 4, 1, some, Array<float>(), 0, none);
  CHECK(some.memory()->head() == Head::UNINITIALIZED);
}

TEST_CASE("Gemm refuses negative sizes, and those that BLAS cannot count", "[kernels]") {
  const World world(Everywhere());
  const Array<float> a(1, world.device());
  Array<float> c(1, world.device());
  const auto gemm = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Gemm(world.place(), Transpose::kNo, Transpose::kNo, m, n, k, 1, a, a, 0, c);
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
  CHECK(c.memory()->head() == Head::UNINITIALIZED);
}

TEST_CASE("Gemm refuses arrays that are not of its sizes, and a C that is A or B", "[kernels]") {
  const World world(Everywhere());
  Array<float> a(6, world.device(), "a"), b(12, world.device(), "weights"), c(8, world.device());
  const auto gemm = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Gemm(world.place(), Transpose::kNo, Transpose::kNo, m, n, k, 1, a, b, 0, c);
  };
  CHECK_THROWS_MATCHES(
      gemm(2, 3, 3), ShapeError,
      Catch::Matchers::Message("ferry::Gemm: b (\"weights\") has 12 elements; k x n = 3 x 3 needs 9"));
  CHECK_THROWS_MATCHES(
      gemm(3, 4, 3), ShapeError,
      Catch::Matchers::Message("ferry::Gemm: a (\"a\") has 6 elements; m x k = 3 x 3 needs 9"));
  CHECK_THROWS_MATCHES(
      Gemm(world.place(), Transpose::kNo, Transpose::kNo, 2, 4, 3, 1, a, b, 0, c.Slice(0, 7)), ShapeError,
      Catch::Matchers::Message("ferry::Gemm: c (no label) has 7 elements; m x n = 2 x 4 needs 8"));
  Array<float> square(4, world.device(), "square");
  CHECK_THROWS_MATCHES(
      Gemm(world.place(), Transpose::kNo, Transpose::kNo, 2, 2, 2, 1, square, c.Slice(0, 4), 0, square),
      std::invalid_argument,
      Catch::Matchers::Message("ferry::Gemm: c (\"square\") of 4 elements begins where a of 4 does, and is "
                               "written while that is read; give it elements of its own"));
  CHECK_THROWS_AS(
      Gemm(world.place(), Transpose::kNo, Transpose::kNo, 2, 2, 2, 1, c.Slice(0, 4), square, 0, square),
      std::invalid_argument);
  for (const Array<float>* const x : {&a, &b, &c, &square}) CHECK(x->memory()->head() == Head::UNINITIALIZED);
  gemm(2, 4, 3);
}

TEST_CASE("Gemm has the same bits each time", "[kernels][no-gpu]") {
  const World world("host cpu");
  const std::int64_t n = 257;  // large enough for BLAS to use its threads
  const Array<float> a(Numbers<float>(n * n, 11), world.device()),
      b(Numbers<float>(n * n, 12), world.device());
  Array<float> c(n * n, world.device());
  const auto product = [&] {
    Gemm(world.place(), Transpose::kNo, Transpose::kYes, n, n, n, 1, a, b, 0, c);
    return ValuesOf(c);
  };
  const std::vector<float> first = product();
  for (int i = 0; i < 20; ++i) CHECK(product() == first);
}

}  // namespace
}  // namespace ferry::testing
