// SPDX-License-Identifier: BSD-2-Clause
// How bytes come to where they are accessed. Under the memory's lock.
#include "core/memory/arrival.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/memory/guard.hpp"
#include "core/memory/observers.hpp"
#include "core/memory/records.hpp"
#include "ferry/error.hpp"

namespace ferry {

using detail::Arrival;
using detail::Bytes;
using detail::Dying;
using detail::kDevice;
using detail::kHost;
using detail::Only;
using detail::Waits;

namespace {

constexpr unsigned kNobody = ~0U;

/// UseList::Prepare, of which observers are told.
void PrepareAndTell(const Arrival& arrival, detail::Buffer& buffer, Bytes bytes, Access access,
                    const Stream& on, Dying& dying) {
  const bool waits = buffer.uses.Prepare(bytes, access, on, dying);
  if (waits && detail::Watched()) detail::Records::TellStreamWaits(arrival, buffer, bytes, access, on);
}

}  // namespace

/// All that can fail of an access, after its bytes were fetched. Made again after each wait, as Fetch is,
/// until there is nothing more to wait for.
Waits SyncedMemory::Prepare(Arrival& arrival, Dying& dying) const {
  sole_.store(detail::StreamId::kNone, std::memory_order_relaxed);
  if (arrival.empty) return std::nullopt;
  if (arrival.hole < size_) [[unlikely]]
    if (auto wait = FillHoles(arrival, dying)) return wait;
  if (arrival.prefetch) return std::nullopt;
  Buffer& here = BufferOf(arrival.space);
  Allocate(here, arrival, arrival.on);
  holders_.Isolate(arrival.bytes);
  if (arrival.on == nullptr) return here.BeforeHost(arrival.bytes, arrival.access, dying);
  // The caller's bytes have been read when this returns. A copy on its way to them concerns nobody here.
  if (Buffer& host = BufferOf(kHost); host.adopted() && &here != &host)
    if (auto wait = host.AfterReaders(arrival.bytes, dying)) return wait;
  arrival.noted = here.uses.Covers(arrival.bytes, arrival.access, arrival.on->id());
  if (arrival.noted) return std::nullopt;
  if (auto wait = here.Before(*arrival.on, arrival.bytes, arrival.access, dying)) return wait;
  PrepareAndTell(arrival, here, arrival.bytes, arrival.access, *arrival.on, dying);
  return std::nullopt;
}

/// Sees to it that the bytes that somebody holds are there or on their way there. The holders follow as each
/// copy is queued: whoever comes next must wait for it, not make another.
Waits SyncedMemory::Fetch(Arrival& arrival, Dying& dying) const {
  sole_.store(detail::StreamId::kNone, std::memory_order_relaxed);
  arrival.hole = Bytes::kEnd;
  if (arrival.empty) return std::nullopt;
  const std::size_t end = std::min(arrival.bytes.last, size_);
  const Spaces host = SharersOf(kHost);  // what one of them holds is there for all
  for (std::size_t at = arrival.bytes.first; at < end;) {
    // The next bytes that are missing, as far as they come from one source.
    Bytes run{end, end};
    Spaces holders = 0;
    holders_.Each({at, end}, [&](Bytes bytes, Spaces of) {
      const bool lacks = arrival.Lacks(of);
      if ((of & host) != 0) of |= host;
      const bool first = run.empty();
      if (first && lacks) run = bytes, holders = of;
      if (!first && (!lacks || Source(of, arrival.space) != Source(holders, arrival.space))) return false;
      if (!first) run.last = bytes.last, holders &= of;
      return true;
    });
    at = run.last;
    if (run.empty()) break;
    if (holders == 0) {
      arrival.hole = std::min(arrival.hole, run.first);
      continue;
    }
    if (run.last == size_ && arrival.bytes.last == Bytes::kEnd) run.last = Bytes::kEnd;
    if (auto wait = Bring(run, holders, arrival, dying)) return wait;
    const bool there =
        holders_.Each({run.first, run.first + 1}, [&](Bytes, Spaces of) { return !arrival.Lacks(of); });
    if (!there) at = run.first;  // they are on their way to the host, and go on from there
  }
  return std::nullopt;
}

/// Makes zeros of what nobody holds. After the copies of all that a call accesses: where one is refused,
/// there are no zeros yet.
Waits SyncedMemory::FillHoles(Arrival& arrival, Dying& dying) const {
  const std::size_t end = std::min(arrival.bytes.last, size_);
  for (std::size_t at = arrival.hole; at < end;) {
    Bytes hole{end, end};
    holders_.Each({at, end}, [&](Bytes bytes, Spaces of) {
      if (of != 0) return hole.empty();
      if (hole.empty()) hole.first = bytes.first;
      hole.last = bytes.last;
      return true;
    });
    at = hole.last;
    if (hole.empty()) break;
    if (at == size_ && arrival.bytes.last == Bytes::kEnd) hole.last = Bytes::kEnd;
    if (auto wait = Zero(hole, arrival, dying)) return wait;
  }
  return std::nullopt;
}

/// From the nearest of those that have all of them; if that fails, from the next one, and in the end by way
/// of the host.
Waits SyncedMemory::Bring(Bytes bytes, Spaces holders, Arrival& arrival, Dying& dying) const {
  for (;;) {
    const unsigned source = Source(holders, arrival.space);
    const bool direct = Direct(source, arrival);
    try {
      return BringFrom(source, direct, bytes, arrival, dying);
    } catch (const DeviceError&) {
      // Who comes after the host is reached by way of it, over bytes that its readers may be looking at.
      if (source == kHost) throw;
      holders &= ~SharersOf(source);
      if (holders != 0) continue;
      if (!direct) throw;
      return BringFrom(source, false, bytes, arrival, dying);
    }
  }
}

/// The nearest: who shares the buffer, a device whose memory can be read directly, the host, any other
/// device.
unsigned SyncedMemory::Source(Spaces holders, unsigned space) const {
  const auto first = [](Spaces of) { return static_cast<unsigned>(std::countr_zero(of)); };
  if (const Spaces near = holders & SharersOf(space); near != 0) return first(near);
  for (Spaces rest = holders & ~SharersOf(kHost); space != kHost && rest != 0; rest &= rest - 1)
    if (Reaches(DeviceOf(space), DeviceOf(first(rest)))) return first(rest);
  if ((holders & SharersOf(kHost)) != 0) return kHost;
  return holders == 0 ? kNobody : first(holders);
}

/// The spaces whose buffer is that of `space`.
Spaces SyncedMemory::SharersOf(unsigned space) const noexcept {
  const Buffer& shared = BufferOf(space);
  Spaces sharers = 0;
  for (unsigned other = 0; other < kDevice + 1 + others_.size(); ++other)
    if (&BufferOf(other) == &shared) sharers |= Only(other);
  return sharers;
}

/// Whether one copy can bring bytes from there.
bool SyncedMemory::Direct(unsigned source, const Arrival& arrival) const {
  const Buffer& to = BufferOf(arrival.space);
  if (&to == &BufferOf(kHost)) return false;  // where a unified device has them
  return source == kHost || Reaches(DeviceOf(arrival.space), *BufferOf(source).device);
}

Waits SyncedMemory::BringFrom(unsigned source, bool direct, Bytes bytes, Arrival& arrival,
                              Dying& dying) const {
  const Buffer& src = BufferOf(source);
  if (&src == &BufferOf(arrival.space)) {
    holders_.Isolate(bytes);
    ChangeHolders(bytes, [&](Spaces holders) { return holders | Only(arrival.space); });
    return std::nullopt;
  }
  if (direct) return Transfer(bytes, arrival.space, source, *arrival.on, arrival, dying);
  // To the host, where the bytes are written anyway: no stream waits for another.
  auto on = arrival.prefetch && &arrival.on->device() == src.device ? *arrival.on : src.uses.Writer(bytes);
  if (!on) on = Stream::Main(*src.device);
  auto wait = Transfer(bytes, kHost, source, *on, arrival, dying);
  detail::Dismiss(std::move(*on), dying);
  return wait;
}

/// One copy is one stream's read of the one buffer and overwrite of the other. Both are noted before the copy
/// is queued, so that a call that fails half-way is still waited for.
Waits SyncedMemory::Transfer(Bytes bytes, unsigned to, unsigned source, const Stream& on, Arrival& arrival,
                             Dying& dying) const {
  Buffer &src = BufferOf(source), &dst = BufferOf(to);
  const bool to_host = &dst == &BufferOf(kHost), from_host = &src == &BufferOf(kHost);
  std::optional<CopyRecord> record;
  std::uint64_t arrivals = 0;  // of the observers who are told of the copy
  if (detail::Watched()) {
    record =
        detail::Records::OfCopy(arrival, bytes, from_host ? nullptr : &src, to_host ? nullptr : &dst, on);
    const Arrival::Asked copy{bytes, to, source};
    arrival.asked_of = detail::TellBefore(*record, arrival.asked == copy ? arrival.asked_of : 0);
    arrival.asked = copy;
  }
  Allocate(dst, arrival, &on);
  if (auto wait = detail::PageableFor(src, on.device()) && !src.uses.Quiet(bytes, Access::kRead)
                      ? src.BeforeHost(bytes, Access::kRead, dying)
                      : src.Before(on, bytes, Access::kRead, dying))
    return wait;
  if (auto wait = dst.Before(on, bytes, Access::kOverwrite, dying)) return wait;
  holders_.Isolate(bytes);
  PrepareAndTell(arrival, src, bytes, Access::kRead, on, dying);
  PrepareAndTell(arrival, dst, bytes, Access::kOverwrite, on, dying);
  const auto read = src.uses.Note(bytes, Access::kRead, on, dying);
  const auto write = dst.uses.Note(bytes, Access::kOverwrite, on, dying);
  const auto kind = to_host     ? CopyKind::kDeviceToHost
                    : from_host ? CopyKind::kHostToDevice
                                : CopyKind::kDeviceToDevice;
  const auto queue = [&] {
    return Event::OfCopy(kind, dst.Reach(bytes), src.Reach(bytes), CountOf(bytes), on);
  };
  const auto queue_and_tell = [&] {
    record->pageable = detail::Records::ArePageable(*record, bytes);
    return detail::TellAround(*record, arrivals, queue);
  };
  // Without its point the copy is waited for like a kernel: with all that is queued behind it.
  if (const auto landed = record ? queue_and_tell() : queue()) {
    src.uses.SetPoint(bytes, read, *landed);
    dst.uses.SetPoint(bytes, write, *landed);
  }
  ChangeHolders(bytes, [&](Spaces holders) { return holders | Only(to); });
  arrival.copied += CountOf(bytes);
  if (record) {
    arrival.asked.reset();
    detail::Records::NoteUse(*this, bytes, src);
    if (record->purpose != Purpose::kAccess) detail::Records::Follow(*record, bytes, dst, arrivals);
  }
  return std::nullopt;
}

/// Bytes that nobody holds read as zeros; here they become so. For the host that is a write, though the
/// access be a read, and waits for readers too.
Waits SyncedMemory::Zero(Bytes bytes, Arrival& arrival, Dying& dying) const {
  if (arrival.prefetch && arrival.space == kHost) return std::nullopt;  // no stream has work to start
  Buffer& here = BufferOf(arrival.space);
  Allocate(here, arrival, arrival.on);
  auto wait = arrival.on == nullptr ? here.BeforeHost(bytes, Access::kReadWrite, dying)
                                    : here.Before(*arrival.on, bytes, Access::kReadWrite, dying);
  if (wait) return wait;
  holders_.Isolate(bytes);
  const detail::Stopwatch watch;
  if (arrival.on == nullptr) {
    std::memset(here.Reach(bytes), 0, CountOf(bytes));
  } else {
    const Stream& on = *arrival.on;
    PrepareAndTell(arrival, here, bytes, Access::kReadWrite, on, dying);
    here.uses.Note(bytes, Access::kReadWrite, on, dying);
    on.device().Fill(here.Reach(bytes), std::byte{0}, CountOf(bytes), on.handle());
  }
  const std::int64_t took_ns = watch.Read();
  ChangeHolders(bytes, [&](Spaces) { return Only(arrival.space); });
  arrival.zeroed += CountOf(bytes);
  if (detail::Watched()) detail::Records::TellFill(arrival, bytes, took_ns);
  return std::nullopt;
}

void SyncedMemory::Commit(Arrival& arrival, Dying& dying) const noexcept {
  Buffer& here = BufferOf(arrival.space);
  const Bytes bytes = arrival.bytes;
  if (!arrival.prefetch) {
    if (arrival.on != nullptr && !arrival.empty && (!arrival.noted || arrival.access == Access::kRead))
      here.uses.Note(bytes, arrival.access, *arrival.on, dying);
    ChangeHolders(bytes,
                  [&](Spaces holders) { return Next(holders, Only(arrival.space), arrival.access).next; });
    detail::HostGuard::Refresh(*this, bytes);  // before anybody gets the pointer
    // Who accessed no byte has waited for nobody.
    if (!arrival.empty) Publish(bytes, arrival.access, arrival.space, arrival.on);
    arrival.ptr = here.ptr == nullptr ? nullptr : here.At(bytes);
  }
}

/// After a call, or one that failed: what has become equal joins.
void SyncedMemory::Settle(const Arrival& arrival, Dying& dying) const noexcept {
  holders_.Join(arrival.bytes, [](Spaces left, Spaces right) { return left == right; });
  for (Buffer* buffer : {&cpu_, &gpu_}) buffer->uses.Settle(arrival.bytes, dying);
  for (const auto& other : others_) other->uses.Settle(arrival.bytes, dying);
}

unsigned SyncedMemory::SpaceOf(Device& device) const {
  if (&device == &device_) return kDevice;  // nearly always, and without the lock
  const std::lock_guard lock(mutex_);
  if (const auto space = FindSpace(device)) return *space;
  constexpr std::size_t kMost = 30;
  if (others_.size() == kMost)
    throw std::length_error("SyncedMemory: " + Named() + " is on 31 devices already, which is the most");
  const bool unified = device.properties().unified;
  others_.push_back(
      std::make_unique<Buffer>(Buffer{&device, unified ? MemoryKind::kManaged : MemoryKind::kDevice}));
  detail::Dependents::Of(others_.back()->serial).Add(detail::Dependent::kMemory, device);
  detail::HostGuard::Share(*this, device);
  return static_cast<unsigned>(kDevice + others_.size());
}

std::optional<unsigned> SyncedMemory::FindSpace(const Device& device) const noexcept {
  if (&device == &device_) return kDevice;
  for (std::size_t i = 0; i < others_.size(); ++i)
    if (others_[i]->device == &device) return static_cast<unsigned>(kDevice + 1 + i);
  return std::nullopt;
}
Device& SyncedMemory::DeviceOf(unsigned space) const noexcept {
  return space <= kDevice ? device_ : *others_[space - kDevice - 1]->device;
}
/// A unified device uses the host's memory.
detail::Buffer& SyncedMemory::BufferOf(unsigned space) const noexcept {
  if (space == kHost) return unified_ ? gpu_ : cpu_;
  if (space == kDevice) return gpu_;
  Buffer& other = *others_[space - kDevice - 1];
  return other.kind == MemoryKind::kManaged ? BufferOf(kHost) : other;
}

}  // namespace ferry
