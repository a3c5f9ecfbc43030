// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/ledger.hpp"

#include <cstdio>
#include <utility>

#include "core/seeing/output_file.hpp"
#include "core/write_signals.hpp"
#include "ferry/error.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {

Ledger::Book::Memory& Ledger::Book::MemoryOf(const SyncedMemory& memory) {
  Memory& known = memories_[&memory];
  if (known.name == nullptr || known.name->label != memory.label())
    known.name = NameOf(memory.label(), known.made);
  return known;
}

Ledger::Book::Key Ledger::Book::KeyOf(const CopyRecord& copy, const Name* name) {
  return {.kind = LedgerKind::kCopy,
          .name = name,
          .from = spaces_.NumberOf(copy.from),
          .to = spaces_.NumberOf(copy.to),
          .written = copy.written,
          .asked = copy.site,
          .access = copy.access,
          .purpose = copy.purpose,
          .pageable = copy.pageable};
}

void Ledger::Book::On(const OutcomeRecord& outcome) {
  const std::lock_guard lock(mutex_);
  if (!Follows()) return;
  const auto memory = memories_.find(outcome.copy->memory);
  const auto made = memory != memories_.end() ? memory->second.made : std::nullopt;
  LedgerEntry* const entry = Find(KeyOf(*outcome.copy, NameOf(std::string(outcome.label), made)));
  if (entry == nullptr || entry->pending == 0) return;
  --entry->pending;
  if (!outcome.read) ++entry->unread;
}

void Ledger::Book::CountPendingAsUnread() {
  const std::lock_guard lock(mutex_);
  if (!Follows()) return;
  ended_ = true;
  for (auto& [key, entry] : entries_) entry.unread += std::exchange(entry.pending, 0);
}

/// Follows the copy, and says how many returns it is to count as, if it takes the last one back: with the
/// second one in its direction, the first one counts. Of one by way of the host, both halves are one trip.
unsigned Ledger::Book::Returns(const CopyRecord& copy, detail::ByRange<Trip>& trips) {
  if (!copy.written) return 0;
  const Site &written = copy.written->site, &asked = copy.site;
  const Trip* const trip = trips.Of(copy.range);
  const bool near = trip != nullptr && copy.from == trip->to;
  const bool goes_on = near && detail::Same(written, trip->written) && detail::Same(asked, trip->asked);
  const bool returns = near && copy.to == trip->from && detail::Same(written, trip->asked) &&
                       detail::Same(asked, trip->written);
  const unsigned now = returns ? trip->returns + 1 : 0;
  trips.Put({written, asked, goes_on ? trip->from : copy.from, copy.to, copy.range, now});
  if (now <= 2) return 0;
  return now <= 4 ? 2 : 1;
}

void Ledger::Book::On(const CopyRecord& copy) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*copy.memory);
  const Key key = KeyOf(copy, memory.name);
  LedgerEntry& entry = Count(memory, key, copy.range.bytes, copy.took_ns);
  const bool in_vain = detail_ == Detail::kVerify && InVain(copy, memory);
  unsigned returns = Returns(copy, memory.trips);
  if (entry.returned + returns > entry.count) returns = 1;  // the one before was counted in another
  if (in_vain)
    ++entry.unwritten, memory.trips.Remove(copy.range);  // its line has not written them
  else
    entry.returned += returns;
  if (copy.purpose != Purpose::kAccess && Follows()) ++entry.pending;
  const bool fetches = copy.side == Side::kCpu && copy.to == nullptr && copy.purpose == Purpose::kAccess;
  memory.fetched.reset();  // the access that another copy was for has failed, or waits no more
  if (fetches) memory.fetched = Fetch{copy.site, copy.range, copy.on->id()};
  if (detail_ != Detail::kVerify) return;
  memory.arrived.reset();
  if (fetches) memory.arrived = Arrived{key, copy.range, in_vain ? 0 : returns};
  memory.held.Add(copy.from, copy.range);
  memory.held.Add(copy.to, copy.range);
}

void Ledger::Book::On(const AccessRecord& access) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*access.memory);
  if (access.side == Side::kGpu && access.access != Access::kRead)
    NoteWork(memory, {access.site, access.range, Clock::now(), access.on->id()});
  if (detail_ == Detail::kVerify) Verify(access, memory);
}

void Ledger::Book::On(const FillRecord& fill) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*fill.memory);
  memory.held.Remove(fill.range);  // not all losses are told
  memory.lent.Remove(fill.range);
  Count(memory,
        {.kind = LedgerKind::kFill,
         .name = memory.name,
         .to = spaces_.NumberOf(fill.on != nullptr ? &fill.on->device() : nullptr),
         .asked = fill.site,
         .access = fill.access,
         .purpose = fill.purpose},
        fill.range.bytes, fill.took_ns);
}

/// The writes of calls that find their bytes in place, too, of which no access may be told.
void Ledger::Book::On(const CallRecord& call) {
  const bool copies = call.kind == CallRecord::Kind::kCopy;
  if (call.on == nullptr && !copies) return;
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  for (const auto& [memory, range, access] : call.operands) {
    if (access == Access::kRead) {
      // An Assign. Had its source only been read, a device would have made the copy, and have the bytes.
      if (copies && call.on == nullptr && detail_ == Detail::kVerify) MemoryOf(*memory).lent.Remove(range);
      continue;
    }
    Memory& written = MemoryOf(*memory);
    if (call.on != nullptr) NoteWork(written, {call.site, range, now, call.on->id()});
    if (!copies) continue;
    const std::size_t space = spaces_.NumberOf(call.on != nullptr ? &call.on->device() : nullptr);
    Count(written,
          {.kind = LedgerKind::kCopy,
           .name = written.name,
           .from = space,
           .to = space,
           .asked = call.site,
           .access = access},
          range.bytes, call.took_ns);
  }
  if (!call.waits) return;
  if (call.on != nullptr) NoteDone(call.on->id(), 0);
  Count({.kind = LedgerKind::kWait,
         .name = call.operands.empty() ? NameOf({}) : MemoryOf(*call.operands[0].memory).name,
         .asked = call.site},
        0, call.took_ns);
}

Ledger::Book::Done& Ledger::Book::DoneOf(detail::StreamId on) {
  if (done_.size() >= kMost && !done_.contains(on)) done_.clear();
  return done_[on];
}

void Ledger::Book::NoteWork(Memory& memory, const Work& work) {
  memory.written.Put(work);
  DoneOf(work.on).queued = work.at;
}

/// A wait for all of a stream, or for a copy that was queued last there, is over.
void Ledger::Book::NoteDone(detail::StreamId on, std::int64_t waited_ns) {
  Done& done = DoneOf(on);
  if (done.until > done.queued) return;  // nothing new
  const auto now = Clock::now();
  done.until = now - std::chrono::nanoseconds(waited_ns);
  done.since = now;
}

/// Whether the host knew that the work is over, `before_ns` ago.
bool Ledger::Book::WasDone(const Work& work, std::int64_t before_ns) const {
  const auto done = done_.find(work.on);
  return done != done_.end() && done->second.until > work.at &&
         Clock::now() - std::chrono::nanoseconds(before_ns) >= done->second.since;
}

void Ledger::Book::On(const SyncRecord& sync) {
  const std::lock_guard lock(mutex_);
  if (sync.on != nullptr) NoteDone(sync.on->id(), sync.waited_ns);
  Count({.kind = LedgerKind::kWait,
         .name = NameOf({}),
         .to = spaces_.NumberOf(sync.device),
         .asked = sync.site},
        0, sync.waited_ns);
}

void Ledger::Book::On(const WaitRecord& wait) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*wait.memory);
  LedgerEntry& entry = Count(memory,
                             {.kind = LedgerKind::kWait,
                              .name = memory.name,
                              .written = wait.written,
                              .asked = wait.site,
                              .access = wait.access},
                             wait.range.bytes, wait.waited_ns);
  const auto fetched = std::exchange(memory.fetched, std::nullopt);
  const bool copies = wait.side == Side::kCpu && fetched && detail::Same(fetched->site, wait.site) &&
                      detail::Within(fetched->range, wait.range);
  const Work* const work = memory.written.Around(wait.range);
  const bool known = copies && wait.access == Access::kRead && wait.written && work != nullptr &&
                     detail::Same(wait.written->site, work->site);
  // The wait, and as much before it.
  if (known && WasDone(*work, 2 * wait.waited_ns)) ++entry.in_time;
  if (copies) NoteDone(fetched->on, wait.waited_ns);
}

/// A block ends, with the bytes that it had.
void Ledger::Book::NoteEnd(const Device* device, Memory& memory) {
  memory.held.Remove(device);
  memory.lent.ForEach([&](Lent& lent) { std::erase(lent.holders, device); });
  if (device != nullptr) return;
  memory.written.Clear();  // what a Prefetch had brought since would be lost
  memory.lent.RemoveIf([](const Lent& lent) { return !lent.by_host; });
}

void Ledger::Book::On(const LifeRecord& life) {
  const std::lock_guard lock(mutex_);
  if (life.what == LifeRecord::What::kMemory) {
    if (life.begins) {
      memories_[life.memory] = Memory{.made = life.site};
      return;
    }
    if (life.took_ns != 0)
      Count({.kind = LedgerKind::kWait, .name = MemoryOf(*life.memory).name}, 0, life.took_ns);
    memories_.erase(life.memory);
    return;
  }
  Memory& memory = MemoryOf(*life.memory);
  if (!life.begins) NoteEnd(life.device, memory);
  if (life.begins ? life.adopted : !life.evicted) return;
  Count({.kind = life.begins ? LedgerKind::kAllocation : LedgerKind::kEviction,
         .name = memory.name,
         .to = spaces_.NumberOf(life.device),
         .asked = life.site},
        life.bytes, life.took_ns);
}

Ledger::Ledger(Detail detail)
    : book_(std::make_shared<Book>(detail)),
      watch_(book_, detail == Detail::kVerify ? Told::kEachWrite : Told::kOfWork) {}
Ledger::~Ledger() = default;

void Ledger::CountPendingAsUnread() { book_->CountPendingAsUnread(); }
std::vector<LedgerEntry> Ledger::Entries() const { return book_->Entries(); }
std::vector<std::string> Ledger::Advice() const { return detail::AdviceOn(Entries()); }
std::string Ledger::Table(std::size_t rows) const { return detail::TableOf(Entries(), rows); }
std::string Ledger::Json() const { return detail::JsonOf(Entries()); }

void Ledger::Write(const std::string& file) const {
  const detail::WithoutWriteSignals quiet;
  const std::string text = file.ends_with(".json") ? Json() : Table(kAllRows);
  bool written = false;
  if (std::FILE* const output = detail::PrintedTo(file)) {
    written = detail::Print(output, text);
  } else {
    detail::OutputFile out = detail::OpenToWrite(file);
    written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out.get()) == text.size() &&
              detail::Close(std::move(out));
  }
  if (!written) throw Error("Ledger: the file " + file + " cannot be written: " + detail::WhyNotWritten());
}

}  // namespace ferry
