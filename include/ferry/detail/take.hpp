// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "ferry/coherence.hpp"
#include "ferry/site.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

/// One operand of a call: bytes of a memory, and what the call does with them.
struct Request {
  SyncedMemory* memory;
  ByteRange range;
  Access access;
};

/// All of them for one call, or none: first each allocation, copy and wait, then all changes of state, which
/// cannot fail. `on` is the stream of the work, or nullptr for the CPU. ptrs[i] is the first byte of
/// requests[i]. Requests of one memory with one range take the joint access (any two that differ:
/// kReadWrite). Throws std::invalid_argument for a partial overlap with a write and for a range beyond the
/// memory, which names the label, the ranges and the size; and what an access throws.
void Take(std::span<const Request> requests, const Stream* on, std::span<void*> ptrs,
          const Site& site = Site::Caller());

}  // namespace ferry::detail
