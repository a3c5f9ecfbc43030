// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ferry::detail {

/// What must be kept from step `first` to step `last`, both included.
struct Life {
  int first;
  int last;
  std::size_t bytes;
};

/// Which lives share storage.
struct StoragePlan {
  std::vector<std::size_t> slot_of;  ///< of each life
  std::vector<std::size_t> bytes;    ///< of each slot: its largest life's
};

/// Gives each life a slot, so that no two of one slot overlap, with few bytes in all slots together: the
/// largest lives choose first, each the smallest slot that is free for it. Two plans for the same lives are
/// the same.
StoragePlan PlanStorage(std::span<const Life> lives);

}  // namespace ferry::detail
