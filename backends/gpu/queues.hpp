// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/gpu/per_stream.hpp"
#include "backends/gpu/runtime_calls.hpp"

namespace ferry::gpu {

/// What a point is for.
enum class PointKind : std::uint8_t {
  kPlain,
  kMeasuring,  ///< it keeps the time at which it is reached
  kBrief,      ///< it is released at once, while its stream is there for sure
};

/// A device's own streams, and points in any stream. Events are used again, since to make one costs more than
/// to record it; a wait for an event keeps the state that it had when the wait was queued. Where events need
/// their stream, it is destroyed after the last point in it has been released; of a stream that somebody else
/// may destroy, points are in one of ours that follows it. Any thread may call, with the device current.
template <GpuRuntime Runtime>
class Queues {
 public:
  using Error = typename Runtime::Error;

  /// The main stream stays as long as the device.
  explicit Queues(StreamHandle main) noexcept : main_(main) {}
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  /// Throws std::bad_alloc.
  Error Create(StreamHandle& made) {
    typename Runtime::Stream stream{};
    if (const Error error = Runtime::StreamCreate(&stream); error != Runtime::kSuccess) return error;
    const StreamHandle handle{reinterpret_cast<std::uintptr_t>(stream)};
    try {
      const std::lock_guard lock(mutex_);
      own_.try_emplace(handle);
    } catch (...) {
      Ignore<Runtime>(Runtime::StreamDestroy(stream));
      throw;
    }
    made = handle;
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
    OwnPoint point(Take(kind));
    Error error = Runtime::kSuccess;
    const bool measures = kind == PointKind::kMeasuring;
    call = measures ? "EventCreateMeasuring" : "EventCreate";
    if (!point->made)
      error = measures ? Runtime::EventCreateMeasuring(&point->event) : Runtime::EventCreate(&point->event);
    if (error == Runtime::kSuccess) {
      point->made = true;
      error = RecordOn(*point, on, call);
    }
    if (error == Runtime::kSuccess && Runtime::EventsNeedStream() && kind != PointKind::kBrief)
      error = Secure(*point, call);
    if (error == Runtime::kSuccess) made = EventHandle{reinterpret_cast<std::uintptr_t>(point.release())};
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
  /// Whether there is something to destroy. By contract all points have been released, here and below.
  bool any() const noexcept { return idle_[0] != nullptr || idle_[1] != nullptr || !followers_.empty(); }
  void DestroyAll() noexcept {
    for (Point*& idle : idle_)
      while (idle != nullptr) Discard(std::exchange(idle, idle->next));
    for (const auto& [followed, follower] : followers_)
      if (follower != StreamHandle::kNone)
        Ignore<Runtime>(Runtime::StreamDestroy(gpu::Native<Runtime>(follower)));
  }

  /// visit(event) for each that is kept to be used again.
  template <class Visit>
  void EachKeptEvent(Visit visit) const {
    const std::lock_guard lock(mutex_);
    for (const Point* idle : idle_)
      for (const Point* point = idle; point != nullptr; point = point->next)
        if (point->made) visit(point->event);
  }
  /// visit(stream) for each that follows another one.
  template <class Visit>
  void EachFollower(Visit visit) const {
    const std::lock_guard lock(following_);
    for (const auto& [followed, follower] : followers_) visit(follower);
  }
  /// The runtime has none of them any more.
  void Lose() noexcept {
    const std::scoped_lock lock(following_, mutex_);
    own_.clear();
    followers_.clear();
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
  struct Discarder {
    void operator()(Point* point) const noexcept { Discard(point); }
  };
  using OwnPoint = std::unique_ptr<Point, Discarder>;
  struct OwnStream {
    std::size_t points = 0;  ///< that are not released
    bool destroyed = false;
  };

  static constexpr std::size_t kManyFollowers = 64;

  Point*& IdleOf(PointKind kind) noexcept { return idle_[kind == PointKind::kMeasuring ? 1 : 0]; }
  Point* Take(PointKind kind) {
    {
      const std::lock_guard lock(mutex_);
      Point*& idle = IdleOf(kind);
      if (Point* const point = idle) return idle = point->next, point;
    }
    return new Point{kind};
  }
  static Error RecordOn(Point& point, StreamHandle on, const char*& call) {
    call = "EventRecord";
    point.on = on;
    point.counted = false;
    return Runtime::EventRecord(point.event, gpu::Native<Runtime>(on));
  }
  /// Keeps the point's stream until its release. If that is somebody else's, the point moves to one of ours,
  /// which follows it.
  Error Secure(Point& point, const char*& call) {
    if (point.on == main_ || Count(point)) return Runtime::kSuccess;
    const std::lock_guard lock(following_);  // else other threads' points could come between the two calls
    StreamHandle follower{};
    call = "StreamCreate";
    if (const Error error = FollowerOf(QueueId(point.on), follower); error != Runtime::kSuccess) return error;
    call = "StreamWaitEvent";
    const Error error = Runtime::StreamWaitEvent(gpu::Native<Runtime>(follower), point.event);
    if (error != Runtime::kSuccess) return error;
    if (const Error recorded = RecordOn(point, follower, call); recorded != Runtime::kSuccess)
      return recorded;
    Count(point);
    return Runtime::kSuccess;
  }
  /// Whether its stream is ours, and stays now until the point is released.
  bool Count(Point& point) noexcept {
    const std::lock_guard lock(mutex_);
    const auto it = own_.find(point.on);
    if (it == own_.end()) return false;
    ++it->second.points;
    return point.counted = true;
  }
  Error FollowerOf(QueueId followed, StreamHandle& follower) {
    if (followers_.size() >= kManyFollowers && !followers_.contains(followed)) TakeOver(followed);
    StreamHandle& known = followers_.try_emplace(followed, StreamHandle::kNone).first->second;
    const Error error = known == StreamHandle::kNone ? Create(known) : Runtime::kSuccess;
    follower = known;
    return error;
  }
  /// From now on one that has no points and nothing to wait for, if there is one, follows `followed`: else a
  /// program that makes and destroys streams would leave one for each.
  void TakeOver(QueueId followed) noexcept {
    const RelaxedCapture<Runtime> relaxed;
    for (auto it = followers_.begin(); it != followers_.end(); ++it) {
      if (!HasNoPoints(it->second)) continue;
      const Error idle = Runtime::StreamQuery(gpu::Native<Runtime>(it->second));
      Ignore<Runtime>(idle);
      if (idle != Runtime::kSuccess) continue;
      auto node = followers_.extract(it);
      node.key() = followed;
      followers_.insert(std::move(node));
      return;
    }
  }
  bool HasNoPoints(StreamHandle own) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto it = own_.find(own);
    return it != own_.end() && it->second.points == 0;
  }
  static void Discard(Point* point) noexcept {
    if (point->made) Ignore<Runtime>(Runtime::EventDestroy(point->event));
    delete point;
  }

  mutable std::mutex mutex_;      ///< guards what follows; open while the runtime is at work
  std::array<Point*, 2> idle_{};  ///< of each kind
  std::map<StreamHandle, OwnStream> own_;

  mutable std::mutex following_;               ///< guards what follows, and what is queued there
  std::map<QueueId, StreamHandle> followers_;  ///< of streams that are not ours; kNone if that has failed
  const StreamHandle main_;
};

}  // namespace ferry::gpu
