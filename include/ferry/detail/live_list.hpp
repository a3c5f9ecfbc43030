// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ferry/live.hpp"

namespace ferry::detail {

struct Label;
class LiveList;

/// A block of a memory, on the list of its device.
class LiveNode {
 public:
  struct End {
    void operator()(LiveNode* node) const noexcept;
  };

  explicit LiveNode(LiveList& list) noexcept : list_(list) {}
  ~LiveNode() = default;
  LiveNode(const LiveNode&) = delete;
  LiveNode& operator=(const LiveNode&) = delete;

  std::size_t bytes() const noexcept { return bytes_; }
  const Site& site() const noexcept { return site_; }
  void Rename(const Label* label) noexcept;

 private:
  friend class LiveList;
  LiveList& list_;
  std::size_t bytes_ = 0;
  MemoryKind kind_{};
  Site site_ = Site::Caller();
  const Label* label_ = nullptr;
  LiveNode* previous_ = nullptr;
  LiveNode* next_ = nullptr;
};

/// Keeps the block on the list for as long as this is there. The device may end before.
using LiveEntry = std::unique_ptr<LiveNode, LiveNode::End>;

/// What memories have allocated of one device. Its lock is held while nothing else is locked or called: it
/// may be taken under any other.
class LiveList {
 public:
  enum class Where : std::uint8_t { kAnywhere, kOnHost, kOnDevice };

  /// On the list of the device. Throws OutOfMemory where the block goes beyond the limit, and std::bad_alloc.
  /// The label, which may be null, stays until Rename.
  static LiveEntry Enter(const Device& device, MemoryKind kind, std::size_t bytes, const Label* label,
                         const Site& site);
  /// The largest first.
  std::vector<LiveBlock> Blocks(Where where) const;
  /// The ten largest, a line each, behind a line feed each; empty if there are none. Throws std::bad_alloc.
  std::string Text(Where where) const;
  /// 0: none.
  std::size_t SetLimit(std::size_t bytes) noexcept;

 private:
  friend class LiveNode;
  LiveNode* NewNode(std::unique_lock<std::mutex>& lock);
  void Remove(LiveNode& node) noexcept;

  mutable std::mutex mutex_;
  LiveNode* first_ = nullptr;
  LiveNode* spare_ = nullptr;  ///< nodes whose blocks have ended, which come again
  std::size_t limit_ = 0;
  std::size_t used_ = 0;  ///< of the device's own memory
};

}  // namespace ferry::detail
