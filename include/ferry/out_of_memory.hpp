// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "ferry/device.hpp"

namespace ferry {

/// Asked when an access needs `bytes` of memory of `device`, or of the host's for its copies, and there is no
/// more, after the device's pools have given back what they can: true to try again, false to let the access
/// throw OutOfMemory. It may use any memory, above all SyncedMemory::Release, except the operands of the call
/// under way: no lock is held. What it throws leaves the access as OutOfMemory would, and nothing has
/// changed. Any thread may be the one that asks.
using OutOfMemoryHandler = std::function<bool(Device& device, std::size_t bytes)>;

/// Replaces the handler, as std::set_new_handler does, and returns the old one; an empty one is none. For one
/// allocation it is asked at most 1,000 times. Any thread may call.
OutOfMemoryHandler SetOutOfMemoryHandler(OutOfMemoryHandler handler);

}  // namespace ferry
