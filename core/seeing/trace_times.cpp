// SPDX-License-Identifier: BSD-2-Clause
// What a trace knows of copies and calls by the clocks of their devices: a second track for each stream.
#include <algorithm>
#include <utility>

#include "core/seeing/trace.hpp"
#include "core/seeing/trace_text.hpp"

namespace ferry {

void Trace::Events::OnFailure(const CopyRecord& copy) {
  if (const Turn turn(*this); turn) begun_.erase(&copy);
}
void Trace::Events::OnStart(const CallRecord& call) {
  if (call.on != nullptr) BeginMeasuring(&call, *call.on);
}
void Trace::Events::OnFailure(const CallRecord& call) {
  if (const Turn turn(*this); turn) begun_.erase(&call);
}

/// Where kernels run as they are called, the host's times are exact.
void Trace::Events::BeginMeasuring(const void* record, const Stream& on) {
  if (on.device().properties().kernels_at_once) return;
  const Turn turn(*this);
  if (!turn) return;
  if (auto point = detail::MeasuringPoint(on)) begun_.insert_or_assign(record, *std::move(point));
}

bool Trace::Events::EndMeasuring(const void* record, const Stream& on, std::string text) {
  const auto begin = begun_.extract(record);
  if (begin.empty()) return false;
  const auto end = detail::MeasuringPoint(on);
  if (!end) return false;
  detail::MeasuredWork work{begin.mapped(), *end};
  if (work.may_end()) return false;  // nobody would say when
  constexpr std::size_t kLook = 64;
  Track& track = TrackOf(on);
  text.insert(std::string_view(R"("cat":")").size(), "device ");  // of its category
  track.measured.push_back({std::move(work), std::move(text)});
  if (++track.works % kLook == 0) WriteMeasured(track.lane.space);
  if (track.measured.size() > kMostMeasured) track.measured.pop_front();
  return true;
}

/// What is over may have been written already.
bool Trace::Events::IsOver(const Track& track) noexcept {
  if (!track.open || !track.open->measured) return false;
  if (track.measured.empty()) return true;
  const detail::MeasuredWork& last = track.measured.back().work;
  return !last.gone() && last.over();
}

/// What is over. All of a device at once, since an anchor costs a wait.
void Trace::Events::WriteMeasured(std::size_t space) {
  std::optional<detail::ClockAnchor> anchor;
  for (auto& [key, track] : tracks_) {
    if (track.lane.space != space) continue;
    for (; !track.measured.empty(); track.measured.pop_front()) {
      const auto& [work, text] = track.measured.front();
      if (work.gone()) continue;
      if (!work.over()) break;
      if (!anchor || !anchor->IsOf(work.end.device()))  // two devices may have one name
        anchor = detail::ClockAnchor::Now(work.end.device());
      if (!anchor) return;  // later, then
      const auto period = anchor->PeriodOf(work);
      if (!period) continue;
      const auto since = [&](Clock::time_point at) { return std::chrono::nanoseconds(at - began_).count(); };
      // By another anchor, it may seem to begin before the last one's end.
      const Nanoseconds begin = std::max(since(period->begin), track.device_end);
      track.device_end = std::max(since(period->end), begin);
      Add(DeviceLaneOf(track), begin, track.device_end, text);
    }
  }
}

/// A device may end after the last of its memories: what it has not done by then has no time, since nobody
/// may wait for kernels while a memory is locked.
void Trace::Events::ForgetMeasured(std::size_t space) {
  const auto ends = [](const Measured& one) { return one.work.may_end(); };
  const auto any = [&](const auto& entry) {
    const Track& track = entry.second;
    return track.lane.space == space && std::any_of(track.measured.begin(), track.measured.end(), ends);
  };
  if (std::none_of(tracks_.begin(), tracks_.end(), any)) return;
  WriteMeasured(space);
  for (auto& [key, track] : tracks_) {
    if (track.lane.space != space || std::erase_if(track.measured, ends) == 0) continue;
    if (auto& open = track.open) open->measured = false;
  }
}

Trace::Events::Lane Trace::Events::DeviceLaneOf(Track& track) {
  const Lane lane{track.lane.space, kMostTracks + 1 + track.lane.number};
  if (!std::exchange(track.has_device_lane, true))
    Name("thread_name", lane, track.name + ", by the device's clock");
  return lane;
}

}  // namespace ferry
