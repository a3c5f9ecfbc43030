// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/philox.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <vector>

namespace ferry::detail {
namespace {

std::vector<std::uint32_t> Rounds(const Philox::Block& counter, std::uint32_t k0, std::uint32_t k1) {
  const Philox::Block block = Philox::Rounds(counter, k0, k1);
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

// The vectors that Random123 publishes for philox4x32 of ten rounds.
TEST_CASE("Philox gives the numbers that its authors publish") {
  using Words = std::vector<std::uint32_t>;
  constexpr std::uint32_t kOnes = 0xFFFFFFFF;
  CHECK(Rounds({{0, 0, 0, 0}}, 0, 0) == Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  CHECK(Rounds({{kOnes, kOnes, kOnes, kOnes}}, kOnes, kOnes) ==
        Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
  CHECK(Rounds({{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}}, 0xA4093822, 0x299F31D0) ==
        Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
}

TEST_CASE("Each part of a key, and the index, makes other numbers") {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (std::uint64_t layer = 0; layer < 3; ++layer)
      for (const std::uint64_t iteration : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63U}) {
        const Philox random({seed, layer, iteration});
        for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63U}) {
          seen.insert(random.Bits(index));
          ++drawn;
        }
      }
  CHECK(seen.size() == drawn);
}

TEST_CASE("The same key and index make the same number") {
  const Philox one({3, 4, 5});
  const Philox other({3, 4, 5});
  CHECK(one.Bits(7) == other.Bits(7));
  CHECK(one.Uniform(7) == other.Uniform(7));
  CHECK(one.Gaussian(7) == other.Gaussian(7));
}

struct Moments {
  double mean = 0, variance = 0, fourth = 0, least = 0, most = 0;
};

template <class Draw>
Moments MomentsOf(std::uint64_t n, const Draw& draw) {
  Moments moments;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double x = draw(i);
    moments.mean += x;
    moments.variance += x * x;
    moments.fourth += x * x * x * x;
    moments.least = std::min(moments.least, x);
    moments.most = std::max(moments.most, x);
  }
  const auto count = static_cast<double>(n);
  moments.mean /= count;
  moments.variance = moments.variance / count - moments.mean * moments.mean;
  moments.fourth /= count;
  return moments;
}

// The bounds are five standard deviations of what is estimated.
TEST_CASE("Uniform numbers fill 0 to 1 evenly") {
  const Philox random({1, 2, 3});
  constexpr std::uint64_t kCount = 200000;
  const Moments moments = MomentsOf(kCount, [&](std::uint64_t i) { return random.Uniform(i); });
  CHECK(std::abs(moments.mean - 0.5) < 5 * std::sqrt(1.0 / 12 / kCount));
  CHECK(std::abs(moments.variance - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / kCount));
  CHECK(moments.least >= 0);
  CHECK(moments.most < 1);
  CHECK(moments.most > 0.9999);
}

TEST_CASE("Gaussian numbers have the moments of the normal distribution") {
  const Philox random({1, 2, 3});
  constexpr std::uint64_t kCount = 200000;
  const Moments moments = MomentsOf(kCount, [&](std::uint64_t i) { return random.Gaussian(i); });
  CHECK(std::abs(moments.mean) < 5 * std::sqrt(1.0 / kCount));
  CHECK(std::abs(moments.variance - 1) < 5 * std::sqrt(2.0 / kCount));
  CHECK(std::abs(moments.fourth - 3) < 5 * std::sqrt(96.0 / kCount));
  CHECK(moments.least < -3.5);
  CHECK(moments.most > 3.5);
  CHECK(moments.most < 7);
}

}  // namespace
}  // namespace ferry::detail
