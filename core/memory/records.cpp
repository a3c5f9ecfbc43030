// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory/records.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "core/memory/writers.hpp"

namespace ferry::detail {
namespace {

Side SideOf(const Arrival& arrival) noexcept { return arrival.space == kHost ? Side::kCpu : Side::kGpu; }

bool Meet(Bytes a, Bytes b) noexcept { return a.first < b.last && b.first < a.last; }

/// What is left of `ranges` without `gone`. Throws std::bad_alloc, and has changed nothing then.
void Subtract(std::vector<Bytes>& ranges, Bytes gone) {
  std::vector<Bytes> left;
  for (const Bytes range : ranges) {
    const Bytes before{range.first, std::min(range.last, gone.first)};
    const Bytes after{std::max(range.first, gone.last), range.last};
    for (const Bytes part : {before, after})
      if (part.first < part.last) left.push_back(part);
  }
  ranges.swap(left);
}

}  // namespace

CopyRecord Records::OfCopy(Arrival& arrival, Bytes bytes, End from, End to, const Stream& on) {
  const SyncedMemory& memory = *arrival.memory;
  const std::optional<Write> written = WriterOf(memory, bytes);
  if (!arrival.written) arrival.written = written;
  const Buffer& host = memory.BufferOf(kHost);
  return {.memory = &memory,
          .range = {bytes.first, memory.CountOf(bytes)},
          .from = from != nullptr ? from->device : nullptr,
          .to = to != nullptr ? to->device : nullptr,
          .on = &on,
          .side = SideOf(arrival),
          .access = arrival.access,
          .purpose = arrival.purpose(),
          .pageable = false,
          .source = from == nullptr ? host.Reach(bytes) : nullptr,
          .site = arrival.site,
          .written = written,
          .took_ns = 0};
}

bool Records::ArePageable(const CopyRecord& copy, Bytes bytes) noexcept {
  const Device* const device = copy.from != nullptr ? copy.from : copy.to;
  const bool with_host = device != nullptr && (copy.from == nullptr || copy.to == nullptr);
  const Buffer& host = copy.memory->BufferOf(kHost);
  return with_host && host.adopted() && device->Pageable(host.Reach(bytes));
}

void Records::NoteBefore(Arrival& arrival) noexcept {
  arrival.before = arrival.memory->HeadOf(arrival.bytes);
  if (arrival.access != Access::kRead && IsEachWriteTold()) NoteInPlace(arrival);
}
void Records::NoteInPlace(Arrival& arrival) noexcept {
  const SyncedMemory& memory = *arrival.memory;
  arrival.in_place = KnowsWriters(memory, arrival.bytes) &&
                     memory.Placed(arrival.space, arrival.access, arrival.on, arrival.bytes) != nullptr;
}

void Records::Tell(const Arrival& arrival) noexcept {
  NoteBytes(arrival);
  if (arrival.empty) return;
  const bool writes = arrival.access != Access::kRead, each_write = writes && IsEachWriteTold();
  // In place, who wrote before it has taken the bytes from the other spaces.
  if (writes && !(arrival.in_place && KnowsWriters(*arrival.memory, arrival.bytes))) NoteWriter(arrival);
  if (arrival.in_place ? each_write : IsTold(SideOf(arrival), arrival.access)) TellAccess(arrival);
  if (each_write) arrival.memory->sole_ = StreamId::kNone;  // the next one is to be told, too
}

void Records::TellAccess(const Arrival& arrival) noexcept {
  const Action action = arrival.copied != 0   ? Action::kCopy
                        : arrival.zeroed != 0 ? Action::kZero
                                              : Action::kNone;
  if (arrival.prefetch && action == Action::kNone) return;
  const SyncedMemory& memory = *arrival.memory;
  detail::Tell(AccessRecord{.memory = &memory,
                            .range = {arrival.bytes.first, memory.CountOf(arrival.bytes)},
                            .on = arrival.on,
                            .side = SideOf(arrival),
                            .access = arrival.access,
                            .purpose = arrival.purpose(),
                            .site = arrival.site,
                            .before = arrival.before,
                            .in_place = arrival.in_place,
                            .action = action,
                            .bytes = action == Action::kCopy ? arrival.copied : arrival.zeroed,
                            .after = memory.HeadOf(arrival.bytes),
                            .written = arrival.written,
                            .waited_ns = arrival.waited.count(),
                            .bytes_on_host = HostBytesOf(arrival)});
}

/// See AccessRecord. What a device is about to write stays in the host's buffer until it is copied back.
const void* Records::HostBytesOf(const Arrival& arrival) noexcept {
  if (arrival.prefetch) return nullptr;
  if (arrival.space == kHost) return arrival.ptr;
  const Buffer& host = arrival.memory->BufferOf(kHost);
  const bool had = arrival.zeroed == 0 && Holds(arrival.before, Side::kCpu);
  if (arrival.access != Access::kReadWrite || !had || host.ptr == nullptr ||
      &host == &arrival.memory->BufferOf(arrival.space))
    return nullptr;
  return host.uses.Quiet(arrival.bytes, Access::kRead) ? host.Reach(arrival.bytes) : nullptr;
}

void Records::NoteUnwatched(const Arrival& arrival) noexcept {
  NoteBytes(arrival);  // an observer may have come meanwhile
  if (arrival.access != Access::kRead) arrival.memory->writers_->Note(arrival.bytes, std::nullopt);
}

/// Who uses them here, and loses them elsewhere.
void Records::NoteBytes(const Arrival& arrival) noexcept {
  if (arrival.prefetch || arrival.empty || !Follows(*arrival.memory)) return;
  const Buffer& here = arrival.memory->BufferOf(arrival.space);
  if (arrival.access != Access::kOverwrite) NoteUse(*arrival.memory, arrival.bytes, here);
  if (arrival.access != Access::kRead) NoteLoss(*arrival.memory, arrival.bytes);
}

void Records::Follow(const CopyRecord& copy, Bytes bytes, const Buffer& to, std::uint64_t arrivals) noexcept {
  if (Keep(copy, bytes, to, arrivals)) return;
  CopyRecord known = copy;
  known.on = nullptr;
  known.source = nullptr;
  detail::Tell(OutcomeRecord{&known, copy.memory->label(), true}, arrivals);
}

bool Records::Keep(const CopyRecord& copy, Bytes bytes, const Buffer& to, std::uint64_t arrivals) noexcept
    try {
  const SyncedMemory& memory = *copy.memory;
  if (to.adopted()) return false;
  if (memory.writers_ == nullptr) memory.writers_ = std::make_unique<Writers>();
  auto& prefetched = memory.writers_->prefetched;
  if (prefetched.size() == Writers::kMost) return false;
  prefetched.push_back({copy, &to, {bytes}, memory.label(), arrivals});
  prefetched.back().copy.on = nullptr;
  prefetched.back().copy.source = nullptr;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool Records::Follows(const SyncedMemory& memory) noexcept {
  return memory.writers_ != nullptr && !memory.writers_->prefetched.empty();
}
void Records::NoteUse(const SyncedMemory& memory, Bytes bytes, const Buffer& here) noexcept {
  if (!Follows(memory)) return;
  std::erase_if(memory.writers_->prefetched, [&](const Prefetched& one) {
    const bool read = one.to == &here && std::any_of(one.unread.begin(), one.unread.end(),
                                                     [=](Bytes part) { return Meet(part, bytes); });
    if (read) detail::Tell(OutcomeRecord{&one.copy, one.label, true}, one.arrivals);
    return read;
  });
}

void Records::NoteLoss(const SyncedMemory& memory, Bytes bytes, const Buffer* buffer) noexcept {
  if (!Follows(memory)) return;
  auto& prefetched = memory.writers_->prefetched;
  for (Prefetched& one : prefetched) try {
      if (buffer == nullptr || one.to == buffer) Subtract(one.unread, bytes);
    } catch (const std::bad_alloc&) {  // they count as unread, and who reads the new ones as their reader
    }
  std::erase_if(prefetched, [](const Prefetched& one) {
    if (!one.unread.empty()) return false;
    detail::Tell(OutcomeRecord{&one.copy, one.label, false}, one.arrivals);
    return true;
  });
}

void Records::NoteZeros(const SyncedMemory& memory, Bytes bytes) noexcept {
  NoteLoss(memory, bytes);
  memory.writers_->Note(bytes, std::nullopt);
}

void Records::TellFill(const Arrival& arrival, Bytes bytes, std::int64_t took_ns) noexcept {
  detail::Tell(FillRecord{.memory = arrival.memory,
                          .range = {bytes.first, arrival.memory->CountOf(bytes)},
                          .on = arrival.on,
                          .access = arrival.access,
                          .purpose = arrival.purpose(),
                          .site = arrival.site,
                          .took_ns = took_ns});
}

void Records::TellWait(Arrival& arrival, std::chrono::nanoseconds waited) noexcept {
  arrival.waited += waited;
  const SyncedMemory& memory = *arrival.memory;
  detail::Tell(WaitRecord{.memory = &memory,
                          .range = {arrival.bytes.first, memory.CountOf(arrival.bytes)},
                          .side = SideOf(arrival),
                          .access = arrival.access,
                          .site = arrival.site,
                          .written = WriterOf(memory, arrival.bytes),
                          .waited_ns = waited.count()});
}

void Records::TellStreamWaits(const Arrival& arrival, const Buffer& buffer, Bytes bytes, Access access,
                              const Stream& on) noexcept try {
  const SyncedMemory& memory = *arrival.memory;
  for (const auto& one : buffer.uses.Predecessors(bytes, access, on.id()))
    detail::Tell(StreamWaitRecord{.memory = &memory,
                                  .range = {bytes.first, memory.CountOf(bytes)},
                                  .on = &on,
                                  .other = one.device,
                                  .waits_for = one.on,
                                  .for_point = one.has_point,
                                  .access = access,
                                  .site = arrival.site});
} catch (const std::bad_alloc&) {  // they stay untold
}

void Records::TellLife(const SyncedMemory& memory, bool begins, std::int64_t waited_ns,
                       std::optional<Site> site) noexcept {
  detail::Tell(LifeRecord{.memory = &memory,
                          .what = LifeRecord::What::kMemory,
                          .begins = begins,
                          .evicted = false,
                          .adopted = false,
                          .device = nullptr,
                          .first = nullptr,
                          .bytes = memory.capacity(),
                          .took_ns = waited_ns,
                          .site = site});
}

void Records::TellBlock(const SyncedMemory& memory, const Buffer& buffer, bool begins, std::int64_t took_ns,
                        const Site* site) noexcept {
  detail::Tell(LifeRecord{.memory = &memory,
                          .what = LifeRecord::What::kBlock,
                          .begins = begins,
                          .evicted = !begins && site != nullptr,
                          .adopted = buffer.adopted(),
                          .device = &buffer == &memory.cpu_ ? nullptr : buffer.device,
                          .first = buffer.ptr,
                          .bytes = buffer.adopted() ? memory.capacity() : buffer.allocated(),
                          .took_ns = took_ns,
                          .site = site != nullptr ? std::optional(*site) : std::nullopt});
}

/// Who wrote most of the bytes.
std::optional<Write> Records::WriterOf(const SyncedMemory& memory, Bytes bytes) noexcept {
  if (memory.writers_ == nullptr) return std::nullopt;
  return memory.writers_->Of({bytes.first, std::min(bytes.last, memory.size())});
}
bool Records::WantsWrite(const SyncedMemory& memory, Bytes bytes) noexcept {
  return IsEachWriteTold() || !KnowsWriters(memory, bytes);
}
/// Of each of them.
bool Records::KnowsWriters(const SyncedMemory& memory, Bytes bytes) noexcept {
  return memory.writers_ != nullptr &&
         memory.writers_->Know({bytes.first, std::min(bytes.last, memory.size())});
}
void Records::NoteWriter(const Arrival& arrival) noexcept {
  auto& writers = arrival.memory->writers_;
  if (writers == nullptr) writers.reset(new (std::nothrow) Writers);
  if (writers != nullptr) writers->Note(arrival.bytes, Write{arrival.site, arrival.access});
}

}  // namespace ferry::detail
