// SPDX-License-Identifier: BSD-2-Clause
// Compiled with -ffp-contract=off, as the sums themselves are.
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "core/kernels/block_sum.hpp"
#include "ferry/detail/instruction_set.hpp"
#include "tests/sanitized.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::testing {
namespace {

struct Exact {
  long double asum = 0, sumsq = 0, dot = 0, dot_magnitude = 0;
};

template <class T>
Exact ExactSums(const std::vector<T>& x, const std::vector<T>& y) {
  Exact exact;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double a = x[i], b = y[i];
    exact.asum += std::fabs(a);
    exact.sumsq += a * a;
    exact.dot += a * b;
    exact.dot_magnitude += std::fabs(a * b);
  }
  return exact;
}

TEMPLATE_TEST_CASE("Asum, Sumsq and Dot agree with long double for every length", "[kernels]", float,
                   double) {
  using T = TestType;
  const World world(Everywhere());
  const long double most = std::is_same_v<T, float> ? 1.2e-7L : 1e-14L;
  for (const std::int64_t n : Sizes()) {
    CAPTURE(n);
    const std::vector<T> x = Numbers<T>(n, 4), y = Numbers<T>(n, 5);
    const Array<T> ex(x, world.device()), why(y, world.device());
    const Exact exact = ExactSums(x, y);
    CHECK(std::fabs(Asum(world.place(), ex) - exact.asum) <= most * exact.asum);
    CHECK(std::fabs(Sumsq(world.place(), ex) - exact.sumsq) <= most * exact.sumsq);
    CHECK(std::fabs(Dot(world.place(), ex, why) - exact.dot) <= most * exact.dot_magnitude);
  }
}

TEST_CASE("Sums of millions of floats are exact to 1.2e-7, whatever the pattern", "[kernels][no-gpu]") {
  const World world("host cpu");
  const std::int64_t n = std::int64_t{kSanitized ? 2 : 16} << 20;
  const auto pattern = GENERATE(
      as<std::function<float(std::size_t)>>(), [](std::size_t) { return 0.1F; },
      [](std::size_t i) { return 0.1F * static_cast<float>(i % 7 + 1); },
      [](std::size_t i) { return 1 / static_cast<float>(i + 1); },
      [](std::size_t i) { return i % 3 == 0 ? 1e4F : -1e-4F; },
      [](std::size_t i) { return std::sin(static_cast<float>(i)); });
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = pattern(i);
  const Exact exact = ExactSums(x, x);
  const Array<float> ex(x, world.device());
  CHECK(std::fabs(Asum(world.place(), ex) / exact.asum - 1) <= 1.2e-7L);
  CHECK(std::fabs(Sumsq(world.place(), ex) / exact.sumsq - 1) <= 1.2e-7L);
}

TEST_CASE("Sums of floats that no float holds are right", "[kernels][no-gpu]") {
  const World world("host cpu");
  const Place& place = world.place();
  const auto filled = [&](float value) {
    return Array<float>(std::vector<float>(10000, value), world.device());
  };
  const float huge = std::numeric_limits<float>::max(), tiny = 1e-30F,
              denormal = std::numeric_limits<float>::denorm_min();
  CHECK(std::fabs(Asum(place, filled(huge)) / (1e4 * huge) - 1) < 1e-12);
  CHECK(std::fabs(Sumsq(place, filled(huge)) / (1e4 * huge * double{huge}) - 1) < 1e-12);
  CHECK(std::fabs(Sumsq(place, filled(tiny)) / (1e4 * tiny * double{tiny}) - 1) < 1e-12);
  CHECK(Asum(place, filled(denormal)) == 1e4 * denormal);
  CHECK(Sumsq(place, filled(0)) == 0);
  CHECK(std::fabs(Dot(place, filled(huge), filled(-huge)) / (-1e4 * huge * double{huge}) - 1) < 1e-12);
  CHECK(std::fabs(Dot(place, filled(tiny), filled(-1e-10F)) / (-1e4 * tiny * double{1e-10F}) - 1) < 1e-12);
  std::vector<float> alternating(10000, 1e20F);
  for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = -1e20F;
  CHECK(Dot(place, filled(1e20F), Array<float>(alternating, world.device())) == 0);
}

TEST_CASE("Products that lose bits as floats beside one that does not are summed in double",
          "[kernels][no-gpu]") {
  const World world("host cpu");
  std::vector<float> x(8192, 0x1.8p-75F), y(8192, 0x1p-74F);
  const double products = 8191 * 0x1.8p-149;
  x[0] = 0x1p-60F;
  y[0] = 0x1p-59F;
  const double sum = Dot(world.place(), Array<float>(x, world.device()), Array<float>(y, world.device()));
  CHECK(sum == 0x1p-119 + products);
}

#ifdef __SSE2__
TEST_CASE("Products that a program flushes to zero as floats are summed in double", "[kernels][no-gpu]") {
  const World world("host cpu");
  std::vector<float> x(8192, 0x1.8p-64F), y(8192, 0x1p-63F);
  x[0] = y[0] = 0x1p-41F;
  const Array<float> ex(x, world.device()), why(y, world.device());
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  const double sum = Dot(world.place(), ex, why);
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF);
  CHECK(sum == 0x1p-82 + 8191 * 0x1.8p-127);
}
#endif

TEMPLATE_TEST_CASE("NaN and infinity come out of a sum wherever they stand", "[kernels]", float, double) {
  using T = TestType;
  const World world(Everywhere());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{63}, std::size_t{8191}, std::size_t{8192}, std::size_t{9999}}) {
    std::vector<T> x(10000, T(1));
    x[at] = -std::numeric_limits<T>::infinity();
    const Array<T> infinite(x, world.device());
    CHECK(Asum(world.place(), infinite) == kInfinity);
    CHECK(Sumsq(world.place(), infinite) == kInfinity);
    x[at] = std::numeric_limits<T>::quiet_NaN();
    const Array<T> nan(x, world.device());
    CHECK(std::isnan(Asum(world.place(), nan)));
    CHECK(std::isnan(Sumsq(world.place(), nan)));
    CHECK(std::isnan(Dot(world.place(), nan, nan)));
  }
}

TEST_CASE("A sum has the same bits at every place, at every alignment and from every thread",
          "[kernels][no-gpu]") {
  const std::int64_t n = 100003;
  const std::vector<float> x = Numbers<float>(n, 6);
  const World host("host cpu");
  const Array<float> here(x, host.device());
  const Array<float> other(Numbers<float>(n, 7), host.device());
  const double asum = Asum(host.place(), here), sumsq = Sumsq(host.place(), here),
               dot = Dot(host.place(), here, other);
  for (std::size_t shift = 1; shift < 16; ++shift) {
    std::vector<float> shifted(shift, 0.F);
    shifted.insert(shifted.end(), x.begin(), x.end());
    const Array<float> all(shifted, host.device());
    const Array<const float> part = all.Slice(static_cast<std::int64_t>(shift), n);
    CHECK(Asum(host.place(), part) == asum);
    CHECK(Sumsq(host.place(), part) == sumsq);
    CHECK(Dot(host.place(), part, other) == dot);
  }
  std::vector<double> sums(8);
  std::vector<std::thread> threads;
  for (double& sum : sums)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) sum = Sumsq(host.place(), here);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(sums == std::vector<double>(8, sumsq));
  const World world(Everywhere());
  const Array<float> ex(x, world.device());
  CHECK(Asum(world.place(), ex) == asum);
  CHECK(Sumsq(world.place(), ex) == sumsq);
  CHECK(Dot(world.place(), ex, Array<float>(Numbers<float>(n, 7), world.device())) == dot);
}

TEST_CASE("A sum has the same bits each time", "[kernels]") {
  const std::int64_t n = 100003;
  const World world(Everywhere());
  const Array<float> x(Numbers<float>(n, 6), world.device());
  const double asum = Asum(world.place(), x), dot = Dot(world.place(), x, x);
  for (int i = 0; i < 20; ++i) {
    CHECK(Asum(world.place(), x) == asum);
    CHECK(Dot(world.place(), x, x) == dot);
  }
}

TEMPLATE_TEST_CASE("A sum has the same bits with each instruction set that this processor has",
                   "[kernels][no-gpu]", float, double) {
  using T = TestType;
  using detail::InstructionSet;
  const auto set = GENERATE(InstructionSet::kAvx2, InstructionSet::kAvx512);
  if (set > detail::BestInstructionSet()) SKIP("not on this processor");
  constexpr std::int64_t kCount = 20000;
  const std::vector<T> x = Numbers<T>(kCount, 7), y = Numbers<T>(kCount, 8);
  const auto has_same_bits = [&](auto term) {
    const auto sums_by = [&](InstructionSet by) {
      std::vector<double> sums(3);
      detail::Run(detail::BlockSums<decltype(term)>{term, kCount, sums.data()}, 0, 3, by);
      return sums;
    };
    return sums_by(set) == sums_by(InstructionSet::kBaseline);
  };
  CHECK(has_same_bits(detail::AbsoluteOf<T>{x.data()}));
  CHECK(has_same_bits(detail::SquareOf<T>{x.data()}));
  CHECK(has_same_bits(detail::ProductOf<T>{x.data(), y.data()}));
}

}  // namespace
}  // namespace ferry::testing
