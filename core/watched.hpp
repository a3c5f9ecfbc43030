// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

namespace ferry::detail {

/// How many want to know what happens to memories: the observers, and the log where its level is kTrace.
extern std::atomic<int> watchers;

inline bool Watched() noexcept { return watchers.load(std::memory_order_relaxed) != 0; }

}  // namespace ferry::detail
