// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/gpu/runtime_calls.hpp"

namespace ferry::gpu {

/// Whether a point keeps the time at which it is reached.
enum class PointKind : std::uint8_t { kPlain, kMeasuring };

/// A device's own streams, and points in any stream. Events are used again, since to make one costs more than
/// to record it; a wait for an event keeps the state that it had when the wait was queued. Where events need
/// their stream, it is destroyed after the last point in it has been released. Any thread may call, with the
/// device current.
template <GpuRuntime Runtime>
class Queues {
 public:
  using Error = typename Runtime::Error;

  Queues() = default;
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  /// Throws std::bad_alloc.
  Error Create(StreamHandle& made) {
    typename Runtime::Stream stream{};
    if (const Error error = Runtime::StreamCreate(&stream); error != Runtime::kSuccess) return error;
    made = StreamHandle{reinterpret_cast<std::uintptr_t>(stream)};
    try {
      const std::lock_guard lock(mutex_);
      own_.try_emplace(made);
    } catch (...) {
      Ignore<Runtime>(Runtime::StreamDestroy(stream));
      throw;
    }
    return Runtime::kSuccess;
  }
  /// Returns whether the stream can be destroyed now; else Release will say so.
  [[nodiscard]] bool Destroy(StreamHandle stream) noexcept {
    const std::lock_guard lock(mutex_);
    const auto it = own_.find(stream);
    if (it == own_.end()) return true;  // not one of ours: the runtime has words for that
    it->second.destroyed = true;
    if (it->second.points != 0) return false;
    own_.erase(it);
    return true;
  }

  /// Throws std::bad_alloc. Returns what failed, for the call that `call` names.
  Error Record(StreamHandle on, PointKind kind, EventHandle& made, const char*& call) {
    Point* const point = Take(kind);
    Error error = Runtime::kSuccess;
    const bool plain = kind == PointKind::kPlain;
    call = plain ? "EventCreate" : "EventCreateMeasuring";
    if (!point->made)
      error = plain ? Runtime::EventCreate(&point->event) : Runtime::EventCreateMeasuring(&point->event);
    if (error == Runtime::kSuccess) {
      point->made = true;
      call = "EventRecord";
      error = Runtime::EventRecord(point->event, gpu::Native<Runtime>(on));
    }
    if (error != Runtime::kSuccess) {
      Discard(point);
      return error;
    }
    point->on = on;
    point->counted = false;
    if (Runtime::EventsNeedStream()) {
      const std::lock_guard lock(mutex_);
      const auto it = own_.find(on);
      point->counted = it != own_.end();
      if (point->counted) ++it->second.points;
    }
    made = EventHandle{reinterpret_cast<std::uintptr_t>(point)};
    return error;
  }
  /// Returns a stream that can be destroyed now, if there is one.
  [[nodiscard]] std::optional<StreamHandle> Release(EventHandle event) noexcept {
    auto* const point = reinterpret_cast<Point*>(event);
    const std::lock_guard lock(mutex_);
    Point*& idle = IdleOf(point->kind);
    point->next = idle;
    idle = point;
    if (!point->counted) return std::nullopt;
    const auto it = own_.find(point->on);
    if (--it->second.points != 0 || !it->second.destroyed) return std::nullopt;
    own_.erase(it);
    return point->on;
  }
  /// Whether there are any to destroy. By contract all points have been released, here and below.
  bool HasEvents() const noexcept { return idle_[0] != nullptr || idle_[1] != nullptr; }
  void DestroyEvents() noexcept {
    for (Point*& idle : idle_)
      while (idle != nullptr) Discard(std::exchange(idle, idle->next));
  }

  /// visit(event) for each that is kept to be used again.
  template <class Visit>
  void EachKept(Visit visit) const {
    const std::lock_guard lock(mutex_);
    for (const Point* idle : idle_)
      for (const Point* point = idle; point != nullptr; point = point->next)
        if (point->made) visit(point->event);
  }
  /// The runtime has none of them any more.
  void Lose() noexcept {
    const std::lock_guard lock(mutex_);
    own_.clear();
    for (Point*& idle : idle_)
      while (idle != nullptr) delete std::exchange(idle, idle->next);
  }

  static typename Runtime::Event Native(EventHandle event) noexcept {
    return reinterpret_cast<Point*>(event)->event;
  }
  /// The host waits.
  static Error Await(EventHandle event) noexcept {
    const RelaxedCapture<Runtime> relaxed;
    return Runtime::EventSynchronize(Native(event));
  }
  /// After both. Returns what failed, for the call that `call` names. Throws std::logic_error for a point
  /// that does not measure.
  static Error Elapsed(EventHandle from, EventHandle to, std::int64_t& nanoseconds, const char*& call) {
    call = "EventSynchronize";
    for (const EventHandle event : {from, to}) {
      if (reinterpret_cast<Point*>(event)->kind != PointKind::kMeasuring)
        throw std::logic_error(std::string(Runtime::kName) + " Elapsed: an event that does not measure");
      if (const Error error = Await(event); error != Runtime::kSuccess) return error;
    }
    call = "EventElapsedTime";
    const RelaxedCapture<Runtime> relaxed;
    float milliseconds = 0;
    const Error error = Runtime::EventElapsedTime(&milliseconds, Native(from), Native(to));
    nanoseconds = std::llround(double{milliseconds} * 1e6);
    return error;
  }

 private:
  struct Point {
    PointKind kind;
    typename Runtime::Event event{};
    bool made = false;
    StreamHandle on{};
    bool counted = false;  ///< among its stream's, which is one of ours
    Point* next = nullptr;
  };
  struct OwnStream {
    std::size_t points = 0;  ///< that are not released
    bool destroyed = false;
  };

  Point*& IdleOf(PointKind kind) noexcept { return idle_[static_cast<std::size_t>(kind)]; }
  Point* Take(PointKind kind) {
    {
      const std::lock_guard lock(mutex_);
      Point*& idle = IdleOf(kind);
      if (Point* const point = idle) return idle = point->next, point;
    }
    return new Point{kind};
  }
  static void Discard(Point* point) noexcept {
    if (point->made) Ignore<Runtime>(Runtime::EventDestroy(point->event));
    delete point;
  }

  mutable std::mutex mutex_;      ///< guards what follows; open while the runtime is at work
  std::array<Point*, 2> idle_{};  ///< of each kind
  std::map<StreamHandle, OwnStream> own_;
};

}  // namespace ferry::gpu
