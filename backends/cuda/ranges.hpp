// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/backend.hpp"

namespace ferry::cuda {

/// NVTX's; null where CMake has not found its header.
const ProfilerRanges* Ranges() noexcept;

}  // namespace ferry::cuda
