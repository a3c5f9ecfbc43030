// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/nets/random.hpp"

/// The random numbers of data layers: functions of the key's seed and layer, and of which item it is, counted
/// from the first one of training on. So a run that is restored draws what it would have drawn.
namespace ferry::detail {

/// For one item.
enum class ItemDraw : std::uint8_t { kMirror, kCropRow, kCropColumn };
/// In [0, n), n > 0.
std::uint64_t DrawForItem(const RandomKey& key, std::uint64_t item, ItemDraw what, std::uint64_t n);

/// How many items the first batch leaves out: in [0, most), or 0 for a most of 0.
std::uint64_t DrawSkip(const RandomKey& key, std::uint64_t most);

/// `order` becomes a permutation of 0 ... size() - 1, another one for each epoch and part of it.
void Shuffle(const RandomKey& key, std::uint64_t epoch, std::uint64_t part, std::vector<std::int64_t>& order);

}  // namespace ferry::detail
