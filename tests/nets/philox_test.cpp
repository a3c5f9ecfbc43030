// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/philox.hpp"

#include <algorithm>
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
}

// The bounds are five standard deviations of what is estimated.
TEST_CASE("Uniform numbers fill 0 to 1 evenly") {
  const Philox random({1, 2, 3});
  constexpr std::uint64_t kCount = 200000;
  double mean = 0, variance = 0, least = 1, most = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = random.Uniform(i);
    mean += x / kCount;
    variance += (x - 0.5) * (x - 0.5) / kCount;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  CHECK(std::abs(mean - 0.5) < 5 * std::sqrt(1.0 / 12 / kCount));
  CHECK(std::abs(variance - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / kCount));
  CHECK(least >= 0);
  CHECK(most < 1);
  CHECK(most > 0.9999);
}

}  // namespace
}  // namespace ferry::detail
