// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kernels.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

/// Mathematics on the first `count` elements of a memory, on the side where they are; both count as the GPU.
/// Where there is none, or nobody has written it, there is nothing to do.
template <Real T>
double Sum(double (*kernel)(const Place&, std::int64_t, const T*), const SyncedMemory* memory,
           std::int64_t count);
template <Real T>
void ScaleIn(SyncedMemory* memory, std::int64_t count, T factor);

}  // namespace ferry::detail
