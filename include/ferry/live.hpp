// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ferry/device.hpp"
#include "ferry/site.hpp"

namespace ferry {

/// What a memory has allocated in one space, and not given back.
struct LiveBlock {
  std::string label;  ///< of the memory; empty if nobody named it
  std::size_t bytes;
  MemoryKind kind;  ///< kPinnedHost: on the host, where this device's copies read and write it
  Site site;        ///< of the access that allocated it
};

/// What memories have allocated of this device, the largest first. Blocks that were asked of a Device by
/// hand, or that a pool keeps, are not among them. Throws std::bad_alloc. Any thread may call.
std::vector<LiveBlock> LiveBlocks(const Device& device);

/// From now on an access throws OutOfMemory where the memories on this device would have more than `bytes`
/// of its memory (kDevice and kManaged) with what the access allocates, as if the device had no more: the
/// handler of ferry/out_of_memory.hpp is asked first. 0 is no limit, which is how a device begins. What is
/// live already stays, and what a pool keeps does not count. Returns the limit that there was. Any thread may
/// call.
std::size_t SetMemoryLimit(Device& device, std::size_t bytes) noexcept;

}  // namespace ferry
