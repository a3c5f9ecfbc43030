// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/random_items.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

#include "core/nets/philox.hpp"

namespace ferry::detail {
namespace {

// What the numbers are for, in the upper bits of Philox's index.
constexpr std::uint64_t kForSkip = std::uint64_t{1} << 56;
constexpr std::uint64_t kForOrder = std::uint64_t{2} << 56;
constexpr unsigned kPartShift = 32;

Philox PhiloxOf(const RandomKey& key, std::uint64_t number) {
  return Philox(RandomKey{key.seed, key.layer, number});
}

}  // namespace

std::uint64_t DrawForItem(const RandomKey& key, std::uint64_t item, ItemDraw what, std::uint64_t n) {
  return PhiloxOf(key, item).Bits(static_cast<std::uint64_t>(what)) % n;
}

std::uint64_t DrawSkip(const RandomKey& key, std::uint64_t most) {
  return most == 0 ? 0 : PhiloxOf(key, 0).Bits(kForSkip) % most;
}

void Shuffle(const RandomKey& key, std::uint64_t epoch, std::uint64_t part,
             std::vector<std::int64_t>& order) {
  std::iota(order.begin(), order.end(), 0);
  const Philox random = PhiloxOf(key, epoch);
  const std::uint64_t from = kForOrder + (part << kPartShift);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Bits(from + i) % i]);
}

}  // namespace ferry::detail
