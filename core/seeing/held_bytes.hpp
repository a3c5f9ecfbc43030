// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
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
    std::size_t first = range.first, last = range.first + range.bytes;
    std::erase_if(held_, [&](const Held& old) {  // those beside it become one with it
      if (old.by != device || old.range.first > last || EndOf(old.range) < first) return false;
      first = std::min(first, old.range.first);
      last = std::max(last, EndOf(old.range));
      return true;
    });
    held_.push_back({device, {first, last - first}});
    Forget();
  }
  /// Somebody writes there. Throws std::bad_alloc.
  void Remove(ByteRange range) {
    std::vector<Held> rest;
    std::erase_if(held_, [&](const Held& old) {
      if (!Meet(old.range, range)) return false;
      if (old.range.first < range.first)
        rest.push_back({old.by, {old.range.first, range.first - old.range.first}});
      if (EndOf(range) < EndOf(old.range))
        rest.push_back({old.by, {EndOf(range), EndOf(old.range) - EndOf(range)}});
      return true;
    });
    held_.insert(held_.end(), rest.begin(), rest.end());
    Forget();
  }
  /// The device has given back its memory.
  void Remove(const Device* device) {
    std::erase_if(held_, [&](const Held& old) { return old.by == device; });
  }
  /// Those that have all of these bytes. Throws std::bad_alloc.
  std::vector<const Device*> HoldersOf(ByteRange range) const {
    std::vector<const Device*> holders;
    for (const Held& one : held_)
      if (Within(range, one.range)) holders.push_back(one.by);
    return holders;
  }

 private:
  struct Held {
    const Device* by;
    ByteRange range;
  };
  /// The oldest of more than kMost.
  void Forget() noexcept {
    if (std::ssize(held_) > kMost) held_.erase(held_.begin(), held_.end() - kMost);
  }
  static std::size_t EndOf(ByteRange range) noexcept { return range.first + range.bytes; }

  static constexpr std::ptrdiff_t kMost = 64;
  std::vector<Held> held_;
};

}  // namespace ferry::detail
