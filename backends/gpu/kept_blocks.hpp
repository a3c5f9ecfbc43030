// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backends/gpu/per_stream.hpp"
#include "ferry/device.hpp"

namespace ferry::gpu {

/// Blocks that could not go back yet, because streams that may use them are under graph capture: a free would
/// join the graph, and a wait would end the capture. Any thread may call.
class KeptBlocks {
 public:
  struct Block {
    MemoryKind kind;
    void* ptr;
    std::vector<QueueId> users;         ///< whose work is not ordered yet; empty once nobody can tell
    std::vector<EventHandle> points{};  ///< of the users before, each after its use
  };

  /// With no host memory for the note the block is lost; to wait here would end the caller's capture.
  void Keep(MemoryKind kind, void* ptr, std::span<const StreamHandle> streams) noexcept try {
    std::list<Block> one;
    Block& block = one.emplace_back(Block{kind, ptr, {}});
    for (const StreamHandle on : streams) block.users.emplace_back(on);
    std::sort(block.users.begin(), block.users.end());  // one stream may have been named twice
    block.users.erase(std::unique(block.users.begin(), block.users.end()), block.users.end());
    block.points.reserve(block.users.size());
    const std::lock_guard lock(mutex_);
    blocks_.splice(blocks_.end(), one);
    any_ = true;
  } catch (...) {
  }

  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

  /// Those that `on`, which is not under capture, uses: record(on) returns a point after its work, or
  /// nothing, and free(block, on) gives back in the order of `on` a block that has no other user, or returns
  /// false. What has failed is tried again. `free` may wait: it is called without the lock.
  template <class Record, class Free>
  void Continue(StreamHandle on, Record record, Free free) noexcept {
    std::list<Block> free_now;
    {
      const std::lock_guard lock(mutex_);
      for (auto it = blocks_.begin(); it != blocks_.end();) {
        const auto block = it++;
        const auto user = std::find(block->users.begin(), block->users.end(), QueueId(on));
        if (user == block->users.end()) continue;
        if (block->users.size() == 1) {
          free_now.splice(free_now.end(), blocks_, block);
        } else if (const std::optional<EventHandle> point = record(on)) {
          block->points.push_back(*point);
          block->users.erase(user);
        }
      }
    }
    free_now.remove_if([&](const Block& block) { return free(block, on); });
    const std::lock_guard lock(mutex_);
    blocks_.splice(blocks_.end(), free_now);
    any_ = !blocks_.empty();
  }

  /// The stream is gone, and its handle may come again: its blocks stay until the device's end.
  void Forget(StreamHandle stream) noexcept {
    const std::lock_guard lock(mutex_);
    for (Block& block : blocks_)
      if (std::find(block.users.begin(), block.users.end(), QueueId(stream)) != block.users.end())
        block.users.clear();
  }

  std::list<Block> TakeAll() noexcept {
    const std::lock_guard lock(mutex_);
    any_ = false;
    return std::exchange(blocks_, {});
  }

 private:
  std::mutex mutex_;
  std::list<Block> blocks_;
  std::atomic<bool> any_{false};
};

}  // namespace ferry::gpu
