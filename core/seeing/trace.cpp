// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/trace.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "core/memory/byte_ranges.hpp"
#include "core/memory/observers.hpp"
#include "core/seeing/trace_text.hpp"
#include "core/seeing/words.hpp"
#include "ferry/log.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace {

/// When the thread's copy was about to be queued, since the clock's own beginning.
thread_local std::chrono::steady_clock::time_point copy_started;

std::size_t NumberOfThread() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = ++threads;
  return number;
}

}  // namespace

Trace::Events::Events(const std::string& file) : file_(file) {
  Begin('M', {0, 0}, 0) += R"("name":"ferry_trace","args":{"version":1}})";
  SpaceOf(nullptr);
}

Trace::Events::~Events() { End(); }

/// What is still open ends with the trace. Without the lock, which nobody needs any more: kernels that the
/// host now waits for may end memories, and are told.
void Trace::Events::End() noexcept try {
  if (!file_.ours() || ended_.exchange(true)) return;
  { const std::lock_guard rest(mutex_); }
  try {
    CloseAll();
  } catch (const std::exception&) {  // the file ends after the last that was kept
    file_.Drop();
  }
  file_.End();
  if (const std::string warning = file_.TakeWarning(); !warning.empty()) Log(LogLevel::kWarning, warning);
} catch (const std::exception&) {
  // Readers take what has no end.
}

void Trace::Events::CloseAll() {
  file_.Keep();
  // Where streams share a queue of the hardware, an anchor is reached only after their work. Of one stream,
  // the last work waits for all, except on the track that is several streams'.
  for (const auto& [key, track] : tracks_)
    for (auto one = track.measured.rbegin(); one != track.measured.rend(); ++one) one->work.Wait();
  for (std::size_t space = 0; space < live_.size(); ++space) WriteMeasured(space), file_.Keep();
  const Nanoseconds end = Now();
  for (auto& [key, track] : tracks_) Close(track, end), file_.Keep();
}

Trace::Events::Turn::Turn(Events& events) : events_(events) {
  if (events.ended_ || !events.file_.ours()) return;
  lock_ = std::unique_lock(events.mutex_);
  events.ended_ ? lock_.unlock() : events.file_.Keep();
}
/// Of events that there was no room for, nothing is kept. The warning may call a sink that ends the
/// program, and with it the trace.
Trace::Events::Turn::~Turn() {
  if (!lock_.owns_lock()) return;
  if (std::uncaught_exceptions() > exceptions_) events_.file_.Drop();
  events_.file_.WriteSome();
  const std::string warning = events_.file_.TakeWarning();
  lock_.unlock();
  if (!warning.empty()) Log(LogLevel::kWarning, warning);
}

Trace::Events::Nanoseconds Trace::Events::Now() const {
  return std::chrono::nanoseconds(Clock::now() - began_).count();
}

std::size_t Trace::Events::SpaceOf(const Device* device) {
  const std::size_t number = spaces_.NumberOf(device);
  if (number < live_.size()) return number;
  live_.push_back(0);
  Name("process_name", {number, 0}, spaces_.NameOf(number));
  return number;
}

Trace::Events::Track& Trace::Events::TrackOf(const Stream& stream) {
  const std::size_t space = SpaceOf(&stream.device());
  if (const auto known = tracks_.find({space, stream.id()}); known != tracks_.end()) return known->second;
  const auto first = tracks_.lower_bound({space, detail::StreamId::kNone});
  const auto last = tracks_.lower_bound({space + 1, detail::StreamId::kNone});
  const auto count = static_cast<std::size_t>(std::distance(first, last));
  const bool beyond = count >= kMostTracks;
  const auto id = beyond ? detail::StreamId::kNone : stream.id();
  const auto [track, fresh] =
      tracks_.try_emplace({space, id}, Track{{space, count + 1}, {}, false, {}, {}, {}});
  if (fresh) {
    const bool main = stream == Stream::Main(stream.device());
    track->second.name = main     ? "main stream"
                         : beyond ? "more streams"
                                  : "stream " + std::to_string(count + 1);
    Name("thread_name", track->second.lane, track->second.name);
  }
  return track->second;
}

Trace::Events::Lane Trace::Events::LaneOfThread() {
  const Lane lane{0, std::min(NumberOfThread(), kMostTracks + 1)};
  if (threads_.insert(lane.number).second)
    Name("thread_name", lane,
         lane.number > kMostTracks ? "more threads" : "thread " + std::to_string(lane.number));
  return lane;
}

void Trace::Events::Close(Track& track, Nanoseconds at) {
  if (track.open) {
    Add(track.lane, track.open->begin, at, track.open->text);
    track.free = std::max(track.free, at);
  }
  track.open.reset();
  track.operands.clear();
}

/// Where kernels run as they are called, work is over when it is told: that of two threads may have run side
/// by side, and elsewhere is queued in the order in which it is told.
Trace::Events::Track& Trace::Events::Queue(const Stream& on, Slice slice) {
  Track& track = TrackOf(on);
  const bool at_once = on.device().properties().kernels_at_once;
  if (slice.begin < track.free) slice.begin = at_once ? track.free : Now();
  track.begun = track.free = slice.begin;
  Close(track, slice.begin);
  for (const Begun& work : std::exchange(track.awaited, {}))
    Flow(work.track->lane, work.at, track.lane, std::max(slice.begin, work.at));
  track.open = std::move(slice);
  if (at_once && !track.open->access) Close(track, Now());
  return track;
}

/// The begin of the accesses of the open slice, where the next one belongs to them: they are of one call.
std::optional<Trace::Events::Nanoseconds> Trace::Events::BeginOf(const Track& track, const Site& site) {
  constexpr std::size_t kMostText = 1000;
  const bool same = track.open && track.open->access && detail::Same(*track.open->access, site) &&
                    track.operands.size() < kMostText;
  return same ? std::optional(track.open->begin) : std::nullopt;
}

/// The track's last slice uses these bytes. Earlier ones of the same stream that are over when it is go.
void Trace::Events::Note(const SyncedMemory& memory, Track& track, ByteRange range, OnHost does) {
  constexpr std::size_t kMostWorks = 32;
  auto& works = memories_[&memory].works;
  std::erase_if(works, [&](const Work& old) {
    return old.track == &track && detail::Within(old.range, range) &&
           (old.does == does || (old.does == OnHost::kReads && does == OnHost::kWrites));
  });
  if (works.size() == kMostWorks) works.erase(works.begin());
  works.push_back({&track, track.begun, range, does});
}

void Trace::Events::OnStart(const CopyRecord& copy) {
  copy_started = Clock::now();
  BeginMeasuring(&copy, *copy.on);
}

void Trace::Events::On(const CopyRecord& copy) {
  const Turn turn(*this);
  if (!turn) return;
  const Nanoseconds begin =
      copy_started < began_ ? Now() : std::chrono::nanoseconds(copy_started - began_).count();
  std::string text = detail::TextOf(copy);
  const bool measured = EndMeasuring(&copy, *copy.on, text);
  Track& track = Queue(*copy.on, {begin, {}, std::move(text), measured});
  Note(*copy.memory, track, copy.range,
       copy.to == nullptr     ? OnHost::kWrites
       : copy.from == nullptr ? OnHost::kReads
                              : OnHost::kNothing);
}

void Trace::Events::On(const AccessRecord& access) {
  // What a Release moves is a copy, and the end of its block.
  if (access.purpose == Purpose::kRelease || access.on == nullptr) return;
  const Turn turn(*this);
  if (!turn) return;
  const Nanoseconds now = Now();
  if (access.purpose == Purpose::kPrefetch) {
    (Begin('i', LaneOfThread(), now) += R"("s":"t",)") += detail::TextOf(access, {}) + '}';
    return;
  }
  Track& track = TrackOf(*access.on);
  const auto same = BeginOf(track, access.site);
  std::string operands = same ? std::move(track.operands) + ", " : "";
  operands += detail::OperandOf(*access.memory, access.access);
  if (same) track.open.reset();
  const Nanoseconds begin = same.value_or(now);
  Queue(*access.on, {begin, access.site, detail::TextOf(access, operands)});
  track.operands = std::move(operands);
  if (access.on->device().properties().unified)
    Note(*access.memory, track, access.range,
         access.access != Access::kRead ? OnHost::kWrites : OnHost::kReads);
}

void Trace::Events::On(const CallRecord& call) {
  const Turn turn(*this);
  if (!turn) return;
  const auto [begin, end] = UpToNow(call.took_ns);
  const char* const work = call.kind == CallRecord::Kind::kKernel ? "kernel" : "call";
  Add(LaneOfThread(), begin, end, detail::TextOf(call, call.on == nullptr ? work : "call"));
  if (call.on != nullptr) {
    const bool measured = EndMeasuring(&call, *call.on, detail::TextOf(call, work));
    Track& track = TrackOf(*call.on);
    const auto same = BeginOf(track, call.site);
    if (same) track.open.reset();
    const Nanoseconds queued = same.value_or(begin);
    Queue(*call.on, {queued, {}, detail::TextOf(call, work), measured});
    if (call.waits) AddWait(track, {begin, end}, detail::TextOfWait(call));
    if (call.on->device().properties().unified)
      for (const auto& [memory, range, access] : call.operands)
        Note(*memory, track, range, access != Access::kRead ? OnHost::kWrites : OnHost::kReads);
  }
}

void Trace::Events::On(const LifeRecord& life) {
  const Turn turn(*this);
  if (!turn) return;
  if (life.what == LifeRecord::What::kMemory) {
    if (life.begins) return;
    if (life.took_ns != 0) AddWait(life);
    memories_.erase(life.memory);
    for (std::size_t space = 1; space < live_.size(); ++space) ForgetMeasured(space);
    return;
  }
  if (life.evicted && life.device == nullptr && IsAwaited(*life.memory)) AddWait(life);
  if (life.adopted) return;
  const std::size_t space = SpaceOf(life.device);
  auto& blocks = memories_[life.memory].blocks;
  std::string label;
  if (life.begins) {
    label = blocks.emplace_back(Block{space, life.bytes, life.memory->label()}).label;
    live_[space] += life.bytes;
  } else {
    const auto block =
        std::find_if(blocks.begin(), blocks.end(), [&](const Block& one) { return one.space == space; });
    if (block == blocks.end()) return;  // it began before the trace
    live_[space] -= block->bytes;
    label = std::move(block->label);
    blocks.erase(block);
  }
  Count(space, life, label);
}

Trace::Trace(const std::string& file)
    : events_((detail::RequireNotTelling(), std::make_shared<Events>(file))), watch_(events_) {}
Trace::~Trace() = default;

void detail::EndTrace(const Trace& trace) noexcept { trace.events_->End(); }

}  // namespace ferry
