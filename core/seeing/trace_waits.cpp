// SPDX-License-Identifier: BSD-2-Clause
// What a trace says of waits: whose slices they end, and from where flows lead to them.
#include <algorithm>

#include "core/memory/byte_ranges.hpp"
#include "core/seeing/trace.hpp"
#include "core/seeing/trace_text.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {

Trace::Events::Period Trace::Events::UpToNow(std::int64_t took_ns) const {
  const Nanoseconds now = Now();
  return {std::max<Nanoseconds>(now - took_ns, 0), now};
}

/// The host accesses the bytes in such a way: it waits for writes before it reads, and else for all.
bool Trace::Events::Awaits(ByteRange range, Access access, const Work& work) noexcept {
  return detail::Meet(work.range, range) && work.does != OnHost::kNothing &&
         (access != Access::kRead || work.does != OnHost::kReads);
}

/// The host has waited for the work, which ends now at the latest, and the wait has a flow from it.
void Trace::Events::EndAwaited(Begun work, Period waited) {
  Track& track = *work.track;
  if (track.open && track.open->begin <= work.at) Close(track, waited.end);
  Flow(track.lane, work.at, LaneOfThread(), std::max(waited.begin, work.at));
}

/// They are over now.
void Trace::Events::AddWait(const SyncedMemory& memory, ByteRange range, Access access, Period waited,
                            std::string_view text) {
  auto& works = memories_[&memory].works;
  const auto rest = std::stable_partition(works.begin(), works.end(),
                                          [&](const Work& work) { return !Awaits(range, access, work); });
  Add(LaneOfThread(), waited.begin, waited.end, text);
  for (auto work = rest; work != works.end(); ++work) EndAwaited({work->track, work->begin}, waited);
  works.erase(rest, works.end());
  for (std::size_t space = 1; space < live_.size(); ++space) WriteMeasured(space);
}

/// A stream's access waits for copies that read the caller's bytes.
void Trace::Events::On(const WaitRecord& wait) {
  const Turn turn(*this);
  if (!turn) return;
  const Period waited = UpToNow(wait.waited_ns);
  const Access access = wait.side == Side::kCpu ? wait.access : Access::kOverwrite;
  AddWait(*wait.memory, wait.range, access, waited, detail::TextOf(wait));
}

/// Host bytes that are given back were waited for as if they were overwritten.
void Trace::Events::AddWait(const LifeRecord& life) {
  const Period waited = UpToNow(life.took_ns);
  AddWait(*life.memory, {}, Access::kOverwrite, waited, detail::TextOfWait(life));
}
/// Whether whoever gives the host bytes back waits for work that is known here: a Release is timed in any
/// case.
bool Trace::Events::IsAwaited(const SyncedMemory& memory) const {
  const auto known = memories_.find(&memory);
  if (known == memories_.end()) return false;
  const auto& works = known->second.works;
  return std::any_of(works.begin(), works.end(),
                     [](const Work& work) { return Awaits({}, Access::kOverwrite, work); });
}

/// For all that a stream was given before. What another thread has given it since goes on.
void Trace::Events::AddWait(Track& track, Period waited, std::string_view text) {
  Add(LaneOfThread(), waited.begin, waited.end, text);
  if (track.open && track.open->begin <= waited.begin) EndAwaited({&track, track.open->begin}, waited);
}

/// Where a stream waits for all of another one, it waits for the last slice there. Of a point, the copies
/// that may have come before it are known as long as nobody has waited for them; a block's allocation has no
/// slice.
void Trace::Events::On(const StreamWaitRecord& wait) {
  const Turn turn(*this);
  if (!turn) return;
  const auto other = tracks_.find({SpaceOf(wait.other), wait.waits_for});
  if (other == tracks_.end() || other->second.begun < 0) return;  // nothing was queued there yet
  Track& track = other->second;
  Track& waiter = TrackOf(*wait.on);
  if (!wait.for_point) return Await(waiter, {&track, track.begun});
  for (const Work& work : memories_[wait.memory].works)
    if (work.track == &track && detail::Meet(work.range, wait.range)) Await(waiter, {&track, work.begin});
}

/// The next slice waits for the work, and has a flow from it.
void Trace::Events::Await(Track& waiter, Begun work) {
  constexpr std::size_t kMostAwaited = 32;
  auto& awaited = waiter.awaited;
  if (awaited.size() < kMostAwaited && std::find(awaited.begin(), awaited.end(), work) == awaited.end())
    awaited.push_back(work);
}

/// The next access is a slice of its own, be it of the same line as the open one.
void Trace::Events::BeginAnew(Track& track) {
  if (track.open) track.open->access.reset();
}

void Trace::Events::On(const PointRecord& point) {
  const Turn turn(*this);
  if (!turn) return;
  const auto of = tracks_.find({SpaceOf(&point.on->device()), point.on->id()});
  if (of == tracks_.end() || of->second.begun < 0) return;  // nothing was queued there yet
  BeginAnew(of->second);
  if (points_.size() == kMostPoints) points_.erase(points_.begin());
  points_.insert({point.number, {&of->second, of->second.begun}});
}

/// Nothing where nothing was queued before the point, or it is not known.
std::optional<Trace::Events::Begun> Trace::Events::LastBefore(detail::PointNumber point) const {
  const auto known = points_.find(point);
  return known != points_.end() ? std::optional(known->second) : std::nullopt;
}

void Trace::Events::On(const PointWaitRecord& wait) {
  const Turn turn(*this);
  if (!turn) return;
  Track& waiter = TrackOf(*wait.on);
  BeginAnew(waiter);
  const auto last = LastBefore(wait.point);
  if (last && last->track != &waiter) Await(waiter, *last);
}

/// Of events, what the device's clock shows to be over by now ends, too.
void Trace::Events::On(const SyncRecord& sync) {
  const Turn turn(*this);
  if (!turn) return;
  const Period waited = UpToNow(sync.waited_ns);
  const std::size_t space = SpaceOf(sync.device);
  const auto of = sync.on != nullptr ? tracks_.find({space, sync.on->id()}) : tracks_.end();
  if (of != tracks_.end())
    AddWait(of->second, waited, detail::TextOf(sync));
  else
    Add(LaneOfThread(), waited.begin, waited.end, detail::TextOf(sync));
  const auto first = LastBefore(sync.points[0]), second = LastBefore(sync.points[1]);
  if (first) EndAwaited(*first, waited);
  if (second && second != first) EndAwaited(*second, waited);
  if (sync.on == nullptr)
    for (auto& [key, track] : tracks_)
      if (track.lane.space == space && IsOver(track)) Close(track, waited.end);
  for (std::size_t each = 1; each < live_.size(); ++each) WriteMeasured(each);
}

}  // namespace ferry
