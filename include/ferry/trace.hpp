// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "ferry/coherence.hpp"

namespace ferry {

class SyncedMemory;

/// One access that did not find its bytes in place, or a Prefetch (a read on behalf of a later one).
struct AccessRecord {
  const SyncedMemory* memory;  ///< for its label and its address; it must not be accessed
  std::size_t bytes;           ///< moved or zeroed; 0 where nothing was
  Head before;                 ///< of the bytes of the access
  Side side;                   ///< where the access is
  Access access;               ///< what its caller said
  Action action;               ///< what had to be done
  Head after;                  ///< of the bytes of the access
};

/// Called under the memory's lock, from any thread: it must not touch the memory. It must not throw.
using AccessObserver = std::function<void(const AccessRecord&)>;

/// Replaces the observer; an empty one brings back the usual, which logs the record at LogLevel::kTrace.
/// Accesses that find their bytes in place change nothing and are not seen.
void SetAccessObserver(AccessObserver observer);

}  // namespace ferry
