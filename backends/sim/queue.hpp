// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "ferry/detail/kernel_guard.hpp"
#include "ferry/sim.hpp"
#include "memory.hpp"
#include "race.hpp"

namespace ferry::sim {

struct Queue;

/// In nanoseconds.
inline std::int64_t HostTime() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// A point in a queue's work.
struct Position {
  std::shared_ptr<Queue> queue;
  std::size_t index;
  inline bool Reached() const;
};

enum class OpKind : std::uint8_t {
  kOrder,   ///< a wait, a time, or memory that comes: the simulator's own book-keeping
  kFree,    ///< memory that goes: book-keeping too, and somebody short of memory may want it done
  kWork,    ///< a copy or a fill
  kKernel,  ///< the user's code, which runs without the lock
};

struct Op {
  OpKind kind;
  Call call;
  std::function<void()> body{};
  std::vector<Use> uses{};
  std::optional<Position> wait{};
  std::vector<std::shared_ptr<const detail::KernelGuard::Note>> guards{};  ///< of a kernel's memories
  std::int64_t queued_at = 0;                                              ///< HostTime

  const Position* Awaited() const { return !wait || wait->Reached() ? nullptr : &*wait; }
  bool Runnable() const { return Awaited() == nullptr; }
};

enum class QueueKind : std::uint8_t {
  kMain,
  kNonBlocking,
  kBlocking,  ///< its work and the main stream's come one after the other, as queued
};

struct Queue {
  std::uintptr_t handle;
  int device;
  QueueKind kind;
  Call made;
  bool of_system = false;  ///< nobody made it, and nobody destroys it
  std::deque<Op> ops{};
  std::size_t queued = 0, done = 0;
  bool destroyed = false;
  bool capturing = false;
  CaptureMode capture_mode = CaptureMode::kRelaxed;
  std::thread::id captured_by{};
  bool capture_invalidated = false;
  std::shared_ptr<Timeline> accesses = std::make_shared<Timeline>(Timeline{device});
  Clock before{};  ///< what comes before the next work, of other queues
  /// When the last work that was done would have been over on a GPU that does all as soon as it can. Work
  /// takes as long as it took here.
  std::int64_t time = 0;
  std::array<std::int64_t, 32> times{};  ///< the same of the last ones, each at `done` after it

  void NoteDone() { times.at(++done % times.size()) = time; }
  /// When the first `index` works were over; if that is no longer known, the oldest time that is.
  std::int64_t TimeOf(std::size_t index) const {
    const std::size_t first = done < times.size() ? 0 : done - times.size() + 1;
    return times.at(std::max(index, first) % times.size());
  }
  bool runnable() const { return !ops.empty() && ops.front().Runnable(); }
};

/// A point in a queue's work, and what comes before it.
struct Point {
  explicit Point(const std::shared_ptr<Queue>& queue)
      : position{queue, queue->queued}, before(queue->before) {
    before.Join(queue->accesses, queue->accesses->newest);
  }

  Position position;
  Clock before;
};

inline bool Position::Reached() const { return queue->done >= index; }

}  // namespace ferry::sim
