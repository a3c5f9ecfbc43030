// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/seeing/device_times.hpp"
#include "core/seeing/spaces.hpp"
#include "core/seeing/trace_file.hpp"
#include "ferry/stream.hpp"
#include "ferry/trace.hpp"

namespace ferry {

/// Makes events of records. What it keeps is what has begun and not ended: a slice for each stream, and what
/// live memories have.
class Trace::Events : public Observer {
 public:
  explicit Events(const std::string& file);
  ~Events() override;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void OnStart(const CopyRecord& copy) override;
  void On(const CopyRecord& copy) override;
  void OnFailure(const CopyRecord& copy) override;
  void On(const AccessRecord& access) override;
  void On(const WaitRecord& wait) override;
  void On(const StreamWaitRecord& wait) override;
  void On(const PointRecord& point) override;
  void On(const PointWaitRecord& wait) override;
  void On(const SyncRecord& sync) override;
  void On(const LifeRecord& life) override;
  void OnStart(const CallRecord& call) override;
  void On(const CallRecord& call) override;
  void OnFailure(const CallRecord& call) override;

  /// Writes what is left, and the end. Waits for the devices. Does nothing the second time, and in a process
  /// that was forked since.
  void End() noexcept;

 private:
  class Turn;
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::int64_t;  ///< since the trace began

  /// Where events are drawn: a process and a thread, by Chrome's words.
  struct Lane {
    std::size_t space;
    std::size_t number;
  };
  struct Period {
    Nanoseconds begin, end;
  };
  /// The last work that a stream was given, until it is known when it ended at the latest.
  struct Slice {
    Nanoseconds begin;
    std::optional<Site> access;  ///< of an access, whose call may be told next
    std::string text;            ///< of the event: its category, name and arguments
    bool measured = false;       ///< the last of what the track has measured
  };
  /// The same work as the device saw it, until it is over.
  struct Measured {
    detail::MeasuredWork work;
    std::string text;
  };
  struct Track;
  /// A slice of a stream, by when it begins.
  struct Begun {
    bool operator==(const Begun&) const = default;
    Track* track;
    Nanoseconds at;
  };
  struct Track {
    Lane lane;
    std::deque<Measured> measured;  ///< in the stream's order
    bool has_device_lane;
    std::string name;
    std::optional<Slice> open;
    std::string operands;          ///< of the accesses that the open slice stands for
    Nanoseconds begun = -1;        ///< when the last slice began; below 0 if there was none
    Nanoseconds free = 0;          ///< when the next slice may begin
    Nanoseconds device_end = 0;    ///< of the last slice by the device's clock
    std::size_t works = 0;         ///< that were measured so far
    std::vector<Begun> awaited{};  ///< by the next slice
  };
  struct Block {
    std::size_t space;
    std::size_t bytes;
    std::string label;  ///< when it was allocated
  };
  /// What a work of a stream does with the bytes that the host has. Of a copy between devices, nothing.
  enum class OnHost : std::uint8_t { kReads, kWrites, kNothing };
  /// What somebody may wait for: a copy, and where the host and the device have one buffer, each access.
  struct Work {
    Track* track;
    Nanoseconds begin;  ///< of its slice
    ByteRange range;
    OnHost does;
  };
  /// Of a live memory.
  struct Memory {
    std::vector<Block> blocks;
    std::vector<Work> works;  ///< the last ones
  };

  Nanoseconds Now() const;
  std::size_t SpaceOf(const Device* device);
  Track& TrackOf(const Stream& stream);
  Lane LaneOfThread();
  void Name(const char* what, Lane lane, const std::string& name);

  std::string& Begin(char phase, Lane lane, Nanoseconds at);
  void Add(Lane lane, Nanoseconds begin, Nanoseconds end, std::string_view text);
  Track& Queue(const Stream& on, Slice slice);
  void Close(Track& track, Nanoseconds at);
  void CloseAll();
  static std::optional<Nanoseconds> BeginOf(const Track& track, const Site& site);
  void Note(const SyncedMemory& memory, Track& track, ByteRange range, OnHost does);
  void Flow(Lane from, Nanoseconds at, Lane to, Nanoseconds until);
  void Count(std::size_t space, const LifeRecord& life, const std::string& label);

  // Waits.
  Period UpToNow(std::int64_t took_ns) const;
  static bool Awaits(ByteRange range, Access access, const Work& work) noexcept;
  void AddWait(const SyncedMemory& memory, ByteRange range, Access access, Period waited,
               std::string_view text);
  void AddWait(const LifeRecord& life);
  void AddWait(Track& track, Period waited, std::string_view text);
  bool IsAwaited(const SyncedMemory& memory) const;
  std::optional<Begun> LastBefore(detail::PointNumber point) const;
  static void BeginAnew(Track& track);
  static void Await(Track& waiter, Begun work);
  void EndAwaited(Begun work, Period waited);

  // Device times.
  void BeginMeasuring(const void* record, const Stream& on);
  bool EndMeasuring(const void* record, const Stream& on, std::string text);
  static bool IsOver(const Track& track) noexcept;
  void WriteMeasured(std::size_t space);
  void ForgetMeasured(std::size_t space);
  Lane DeviceLaneOf(Track& track);

  static constexpr std::size_t kMostMeasured =
      1024;  ///< of a stream; of older work only the host's times are kept
  static constexpr std::size_t kMostPoints = 1024;  ///< of older ones nothing is known
  static constexpr std::size_t kMostTracks = 1024;  ///< of a space; the others share one more
  const Clock::time_point began_ = Clock::now();
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  detail::TraceFile file_;
  detail::Spaces spaces_;
  std::vector<std::uint64_t> live_;                                   ///< bytes in blocks, by space
  std::map<std::pair<std::size_t, detail::StreamId>, Track> tracks_;  ///< stay where they are
  std::map<detail::PointNumber, Begun> points_;                       ///< the last slices before them
  std::set<std::size_t> threads_;                                     ///< that have a name
  std::unordered_map<const SyncedMemory*, Memory> memories_;
  std::map<const void*, Event> begun_;  ///< of copies and calls that have not ended, by their records
  std::uint64_t flows_ = 0;
};

/// Of one thread: what it is told goes to the trace, unless that has ended or is another process'.
class Trace::Events::Turn {
 public:
  explicit Turn(Events& events);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  explicit operator bool() const noexcept { return lock_.owns_lock(); }

 private:
  Events& events_;
  const int exceptions_ = std::uncaught_exceptions();
  std::unique_lock<std::mutex> lock_;
};

}  // namespace ferry
