// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/net/storage_plan.hpp"

#include <algorithm>
#include <numeric>

namespace ferry::detail {

StoragePlan PlanStorage(std::span<const Life> lives) {
  std::vector<std::size_t> order(lives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lives[a].bytes > lives[b].bytes; });

  StoragePlan plan{std::vector<std::size_t>(lives.size()), {}};
  std::vector<std::vector<std::size_t>> in_slot;
  const auto is_free = [&](std::size_t slot, const Life& life) {
    return std::none_of(in_slot[slot].begin(), in_slot[slot].end(), [&](std::size_t other) {
      return lives[other].first <= life.last && life.first <= lives[other].last;
    });
  };
  for (const std::size_t life : order) {
    // Slots were made from the largest on, so the last that is free is the smallest.
    std::size_t slot = in_slot.size();
    while (slot > 0 && !is_free(slot - 1, lives[life])) --slot;
    if (slot == 0) {
      in_slot.emplace_back();
      plan.bytes.push_back(lives[life].bytes);
      slot = in_slot.size();
    }
    in_slot[slot - 1].push_back(life);
    plan.slot_of[life] = slot - 1;
  }
  return plan;
}

}  // namespace ferry::detail
