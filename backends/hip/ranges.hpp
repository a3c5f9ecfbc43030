// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/backend.hpp"

namespace ferry::hip {

/// ROCTX's; null where CMake has not found its header, or the program its library.
const ProfilerRanges* Ranges() noexcept;

}  // namespace ferry::hip
