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

/// They are over now.
void Trace::Events::AddWait(const SyncedMemory& memory, ByteRange range, Access access, Period waited,
                            std::string_view text) {
  const Lane here = LaneOfThread();
  auto& works = memories_[&memory].works;
  const auto rest = std::stable_partition(works.begin(), works.end(),
                                          [&](const Work& work) { return !Awaits(range, access, work); });
  for (auto work = rest; work != works.end(); ++work)
    if (auto& open = work->track->open; open && open->begin <= work->begin) Close(*work->track, waited.end);
  Add(here, waited.begin, waited.end, text);
  for (auto work = rest; work != works.end(); ++work)
    Flow(work->track->lane, work->begin, here, std::max(waited.begin, work->begin));
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
  const Lane here = LaneOfThread();
  if (track.open && track.open->begin <= waited.begin) {
    Flow(track.lane, track.open->begin, here, waited.begin);
    Close(track, waited.end);
  }
  Add(here, waited.begin, waited.end, text);
}

/// Where a stream waits for all of another one, it waits for the last slice there. Of a point, the copies
/// that may have come before it are known as long as nobody has waited for them; a block's allocation has no
/// slice.
void Trace::Events::On(const StreamWaitRecord& wait) {
  const Turn turn(*this);
  if (!turn) return;
  const auto other = tracks_.find({SpaceOf(wait.other), wait.waits_for});
  if (other == tracks_.end() || other->second.begun < 0) return;  // nothing was queued there yet
  const Track& track = other->second;
  auto& awaited = TrackOf(*wait.on).awaited;
  const auto add = [&](Nanoseconds begun) {
    constexpr std::size_t kMostAwaited = 32;
    const auto same = [&](const Begun& one) { return one.track == &track && one.at == begun; };
    if (awaited.size() < kMostAwaited && std::none_of(awaited.begin(), awaited.end(), same))
      awaited.push_back({&track, begun});
  };
  if (!wait.for_point) return add(track.begun);
  for (const Work& work : memories_[wait.memory].works)
    if (work.track == &track && detail::Meet(work.range, wait.range)) add(work.begin);
}

/// An event does not say whose work comes before it: what the device's clock shows to be over by now ends.
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
  if (sync.on == nullptr)
    for (auto& [key, track] : tracks_)
      if (track.lane.space == space && IsOver(track)) Close(track, waited.end);
  for (std::size_t each = 1; each < live_.size(); ++each) WriteMeasured(each);
}

}  // namespace ferry
