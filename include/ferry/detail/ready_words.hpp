// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <atomic>

#include "ferry/stream.hpp"

namespace ferry::detail {

/// What an access in place looks at. The words speak of a whole memory: gpu_ready_ has s means that the bytes
/// are on the memory's device, s is ordered after their last write, and the uses there have s, without a
/// point.
class ReadyWords {
 public:
  explicit constexpr ReadyWords(StreamId main) noexcept : main_(main) {}
  ReadyWords(const ReadyWords&) = delete;
  ReadyWords& operator=(const ReadyWords&) = delete;

 protected:
  friend class InPlace;
  bool Ready(StreamId on) const noexcept {
    return gpu_ready_[0].load(std::memory_order_acquire) == on ||
           gpu_ready_[1].load(std::memory_order_acquire) == on;
  }

  mutable std::atomic<void*> cpu_ready_{nullptr};
  mutable std::array<std::atomic<StreamId>, 2> gpu_ready_{};
  mutable std::atomic<StreamId> sole_{};  ///< who accessed last, if that was a write
  const StreamId main_;                   ///< the device's main stream
};

/// Of what is no whole memory: nothing is ever in place. The host is no stream, so that no stream is main.
/// One; of no known bound, since g++ 12 would warn of the memory around it that is never looked at.
extern const ReadyWords kNeverReady[];

}  // namespace ferry::detail
