// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "ferry/live.hpp"

namespace ferry::detail {

struct Label;
class LiveList;

/// A block of a memory, on the list of its device for as long as this is there. The device may end before.
class LiveNode {
 public:
  /// Throws OutOfMemory where the block goes beyond the limit. The label, which may be null, stays until
  /// Rename.
  LiveNode(const Device& device, MemoryKind kind, std::size_t bytes, const Label* label, const Site& site);
  ~LiveNode();
  LiveNode(const LiveNode&) = delete;
  LiveNode& operator=(const LiveNode&) = delete;

  std::size_t bytes() const noexcept { return bytes_; }
  const Site& site() const noexcept { return site_; }
  void Rename(const Label* label) noexcept;

 private:
  friend class LiveList;
  LiveList& list_;
  const std::size_t bytes_;
  const MemoryKind kind_;
  const Site site_;
  const Label* label_;
  LiveNode* previous_ = nullptr;
  LiveNode* next_ = nullptr;
};

/// What memories have allocated of one device. Its lock is held while nothing else is locked or called: it
/// may be taken under any other.
class LiveList {
 public:
  enum class Where : std::uint8_t { kAnywhere, kOnHost, kOnDevice };

  /// The largest first.
  std::vector<LiveBlock> Blocks(Where where) const;
  /// The ten largest, a line each, behind a line feed each; empty if there are none. Throws std::bad_alloc.
  std::string Text(Where where) const;
  /// 0: none.
  std::size_t SetLimit(std::size_t bytes) noexcept;

 private:
  friend class LiveNode;
  /// Puts the node on the list, or returns false where the limit has no room, and says what is in use of it.
  bool TryAdd(LiveNode& node, std::size_t& used, std::size_t& limit) noexcept;
  void Remove(LiveNode& node) noexcept;

  mutable std::mutex mutex_;
  LiveNode* first_ = nullptr;
  std::size_t limit_ = 0;
  std::size_t used_ = 0;  ///< of the device's own memory
};

}  // namespace ferry::detail
