// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/memory/byte_ranges.hpp"
#include "ferry/device.hpp"

namespace ferry::detail {

/// Which devices have current bytes of a memory, as far as it was told: less than there is, and never more.
class HeldBytes {
 public:
  /// Null is the host, which is not asked about. Throws std::bad_alloc.
  void Add(const Device* device, ByteRange range) {
    if (device == nullptr) return;
    std::erase_if(held_, [&](const Held& old) { return old.by == device && Within(old.range, range); });
    if (held_.size() == kMost) held_.erase(held_.begin());
    held_.push_back({device, range});
  }
  /// Somebody writes there.
  void Remove(ByteRange range) {
    std::erase_if(held_, [&](const Held& old) { return Meet(old.range, range); });
  }
  /// The device has given back its memory.
  void Remove(const Device* device) {
    std::erase_if(held_, [&](const Held& old) { return old.by == device; });
  }
  bool Has(const Device* device, ByteRange range) const {
    return std::any_of(held_.begin(), held_.end(),
                       [&](const Held& one) { return one.by == device && Within(range, one.range); });
  }

 private:
  struct Held {
    const Device* by;
    ByteRange range;
  };
  static constexpr std::size_t kMost = 16;
  std::vector<Held> held_;
};

}  // namespace ferry::detail
