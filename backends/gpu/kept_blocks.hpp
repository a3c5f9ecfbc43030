// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "ferry/device.hpp"

namespace ferry::gpu {

/// Blocks that could not go back yet, because streams that may use them are under graph capture: a free would
/// join the graph, and a wait would end the capture. Any thread may call.
class KeptBlocks {
 public:
  struct Block {
    MemoryKind kind;
    void* ptr;
    std::vector<StreamHandle> users;    ///< whose work is not ordered yet; empty once nobody can tell
    std::vector<EventHandle> points{};  ///< of the users before, each after its use
  };

  /// With no host memory for the note the block is lost; to wait here would end the caller's capture.
  void Keep(MemoryKind kind, void* ptr, std::span<const StreamHandle> users) noexcept try {
    Block block{kind, ptr, {users.begin(), users.end()}};
    std::sort(block.users.begin(), block.users.end());  // one stream may have been named twice
    block.users.erase(std::unique(block.users.begin(), block.users.end()), block.users.end());
    block.points.reserve(users.size());
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
    any_ = true;
  } catch (...) {
  }

  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

  /// Those that `on`, which is not under capture, uses: record(on, point) makes a point after its work, and
  /// free(block, on) gives back in the order of `on` a block that has no other user. Each returns whether it
  /// has worked; what has not is tried again.
  template <class Record, class Free>
  void Continue(StreamHandle on, Record record, Free free) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [&](Block& block) {
      const auto user = std::find(block.users.begin(), block.users.end(), on);
      if (user == block.users.end()) return false;
      if (block.users.size() == 1) return free(block, on);
      EventHandle point{};
      if (record(on, point)) {
        block.points.push_back(point);
        block.users.erase(user);
      }
      return false;
    });
    any_ = !blocks_.empty();
  }

  /// The stream is gone, and its handle may come again: its blocks stay until the device's end.
  void Forget(StreamHandle stream) noexcept {
    const std::lock_guard lock(mutex_);
    for (Block& block : blocks_)
      if (std::find(block.users.begin(), block.users.end(), stream) != block.users.end()) block.users.clear();
  }

  std::vector<Block> TakeAll() noexcept {
    const std::lock_guard lock(mutex_);
    any_ = false;
    return std::exchange(blocks_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
  std::atomic<bool> any_{false};
};

}  // namespace ferry::gpu
