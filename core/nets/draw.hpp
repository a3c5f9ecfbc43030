// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "core/nets/philox.hpp"
#include "ferry/detail/instruction_set.hpp"

/// Random numbers for whole arrays on the host. Each block of random bits gives four elements. All is made of
/// what vectors can do; with calls of the C library instead, normal numbers took 9 times as long with AVX2,
/// and 19 times with AVX-512.
namespace ferry::detail {

/// 2^52 + word is made of its bits, since AVX2 converts no unsigned integer to a double.
[[gnu::always_inline]] inline double DoubleOf(std::uint64_t word) {
  return std::bit_cast<double>(0x4330000000000000U | word) - 0x1p52;
}
/// In [0, 1).
[[gnu::always_inline]] inline double Fraction(std::uint32_t word) { return DoubleOf(word) * 0x1p-32; }

/// sin(x) / x and cos(x), for -pi/2 to pi/2, by Taylor's series of x^2. What is left out is less than a
/// rounding.
template <int kTerm = 1>
[[gnu::always_inline]] inline double SineOverX(double square) {
  if constexpr (kTerm > 19)
    return 1;
  else
    return 1 - square * (1.0 / ((kTerm + 1) * (kTerm + 2))) * SineOverX<kTerm + 2>(square);
}
[[gnu::always_inline]] inline double Cosine(double square) { return SineOverX<0>(square); }

/// atanh(x) / x, for -0.18 to 0.18, likewise.
template <int kTerm = 1>
[[gnu::always_inline]] inline double AtanhOverX(double square) {
  if constexpr (kTerm > 21)
    return 0;
  else
    return 1.0 / kTerm + square * AtanhOverX<kTerm + 2>(square);
}

/// The natural logarithm of x from 2^-64 to 1: x is 2^e * m, where m is from sqrt(1/2) to sqrt(2), and
/// log(m) = 2 atanh((m - 1) / (m + 1)).
[[gnu::always_inline]] inline double NaturalLog(double x) {
  constexpr std::uint64_t kExponent = std::uint64_t{1} << 52U;  // one in the bits of a double's exponent
  constexpr std::uint64_t kBias = 64;                           // so that e is not negative
  constexpr auto kLeast = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) + kBias * kExponent;
  const std::uint64_t e = (bits - kLeast) / kExponent;
  const auto m = std::bit_cast<double>(bits - e * kExponent);
  const double ratio = (m - 1) / (m + 1);
  return (DoubleOf(e) - static_cast<double>(kBias)) * std::numbers::ln2 +
         2 * ratio * AtanhOverX(ratio * ratio);
}

struct NormalPair {
  double first, second;
};
/// Two independent numbers of mean 0 and variance 1: Box and Muller, "A note on the generation of random
/// normal deviates", 1958. The lowest bit of `angle` says on which half of the circle the point lies, the
/// others where.
[[gnu::always_inline]] inline NormalPair Normals(std::uint32_t distance, std::uint32_t angle) {
  const double radius = std::sqrt(-2 * NaturalLog(1 - Fraction(distance)));
  const double x = std::numbers::pi * (Fraction(angle) - 0.5);
  const double cosine = Cosine(x * x);
  return {radius * x * SineOverX(x * x), radius * (angle % 2 == 0 ? cosine : -cosine)};
}

/// Four elements, uniform from `least` to `most`. Numbers are rounded to T, so that both ends may occur; an
/// end that is 0 does not.
template <class T>
struct UniformElements {
  T least, most;

  [[gnu::always_inline]] void operator()(const Philox::Block& block, T* to) const {
    // In double, as the difference of two floats may be no float.
    const auto first = static_cast<double>(least);
    const double width = static_cast<double>(most) - first;
    for (int i = 0; i < 4; ++i) to[i] = static_cast<T>(first + width * (Fraction(block.word[i]) + 0x1p-33));
  }
};

/// Four elements of the normal distribution.
template <class T>
struct NormalElements {
  T mean, deviation;

  [[gnu::always_inline]] void operator()(const Philox::Block& block, T* to) const {
    const NormalPair a = Normals(block.word[0], block.word[1]), b = Normals(block.word[2], block.word[3]);
    to[0] = Scaled(a.first);
    to[1] = Scaled(a.second);
    to[2] = Scaled(b.first);
    to[3] = Scaled(b.second);
  }
  [[gnu::always_inline]] T Scaled(double normal) const { return static_cast<T>(mean + deviation * normal); }
};

/// The four elements of each block from `first` to `last` - 1.
template <class Elements, class T>
struct DrawBlocks {
  static constexpr InstructionSet kWidest = InstructionSet::kAvx512;

  Elements elements;
  Philox random;
  T* to;

  [[gnu::always_inline]] void operator()(std::int64_t first, std::int64_t last) const {
    for (std::int64_t block = first; block < last; ++block)
      elements(random.At(static_cast<std::uint64_t>(block)), to + 4 * block);
  }
};

/// Fills `to` with UniformElements or NormalElements of blocks 0, 1, 2 ... of `random`.
template <class T, class Elements>
void Draw(const Philox& random, const Elements& elements, std::span<T> to) {
  const std::size_t blocks = to.size() / 4;
  Run(DrawBlocks<Elements, T>{elements, random, to.data()}, 0, static_cast<std::int64_t>(blocks));
  T last[4];
  elements(random.At(blocks), last);
  std::copy_n(last, to.size() % 4, to.data() + 4 * blocks);
}

}  // namespace ferry::detail
