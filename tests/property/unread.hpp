// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"

namespace ferry::testing {

/// Copies that a Prefetch or a Release made, by the elements that nobody has read there yet.
class Unread {
 public:
  void Add(const CopyRecord& copy) {
    constexpr std::ptrdiff_t kMost = 64;
    if (std::count_if(copies_.begin(), copies_.end(),
                      [&](const One& one) { return one.memory == copy.memory; }) == kMost)
      return;
    One one{copy.memory, BufferOf(copy.to), {}};
    for (std::size_t i = 0; i < copy.range.bytes; i += sizeof(float))
      one.left.insert((copy.range.first + i) / sizeof(float));
    copies_.push_back(std::move(one));
  }
  void Read(const SyncedMemory* memory, const Device* at, ByteRange range) {
    std::erase_if(copies_, [&](const One& one) {
      return one.memory == memory && one.at == BufferOf(at) && one.Meets(range);
    });
  }
  void Lose(const SyncedMemory* memory, ByteRange range) {
    LoseWhere([=](const One& one) { return one.memory == memory; }, range);
  }
  void LoseAllAt(const SyncedMemory* memory, const Device* at) {
    LoseWhere([=](const One& one) { return one.memory == memory && one.at == at; }, {});
  }
  std::uint64_t in_vain() const { return in_vain_; }
  std::uint64_t pending() const { return copies_.size(); }

 private:
  struct One {
    const SyncedMemory* memory;
    const Device* at;
    std::set<std::size_t> left;

    bool Meets(ByteRange range) const {
      const auto next = left.lower_bound(range.first / sizeof(float));
      return next != left.end() && *next * sizeof(float) < range.first + range.bytes;
    }
  };
  /// A unified device has the host's.
  static const Device* BufferOf(const Device* device) {
    return device != nullptr && device->properties().unified ? nullptr : device;
  }
  template <class Which>
  void LoseWhere(Which which, ByteRange range) {
    in_vain_ += std::erase_if(copies_, [&](One& one) {
      if (!which(one)) return false;
      const auto last = range.bytes == ByteRange::kRest
                            ? one.left.end()
                            : one.left.lower_bound((range.first + range.bytes) / sizeof(float));
      one.left.erase(one.left.lower_bound(range.first / sizeof(float)), last);
      return one.left.empty();
    });
  }

  std::vector<One> copies_;
  std::uint64_t in_vain_ = 0;
};

}  // namespace ferry::testing
