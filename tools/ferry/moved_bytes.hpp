// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "ferry/nets.hpp"
#include "ferry/observer.hpp"

namespace ferry::program {

/// What copies move between spaces and within a device: those that the thread that made this has queued, and
/// those that other threads have for batches, which layers read ahead.
class MovedBytes final : public Observer {
 public:
  using Observer::On;
  void On(const CopyRecord& copy) override;
  void On(const CallRecord& call) override;
  void On(const LifeRecord& life) override;

  /// Since the last time: the thread's own, and the way of the batches that these tops have now.
  std::uint64_t Take(const std::vector<Blob<float>*>& tops);

 private:
  using Pieces = std::map<std::size_t, std::size_t>;  ///< bytes by the first one

  const std::thread::id thread_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::uint64_t own_ = 0;
  /// By other threads. A batch that is read anew, as its layer's key was another, moves in the same pieces.
  std::unordered_map<const SyncedMemory*, Pieces> ahead_;
};

}  // namespace ferry::program
