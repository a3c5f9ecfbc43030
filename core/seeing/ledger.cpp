// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/ledger.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "core/seeing/write_signals.hpp"
#include "ferry/error.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace {

/// FNV-1a, of 8 bytes at a time.
std::uint64_t SumOf(const void* from, std::size_t bytes) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t sum = 0xcbf29ce484222325;
  const auto* at = static_cast<const unsigned char*>(from);
  for (; bytes >= 8; at += 8, bytes -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 29;
  }
  for (; bytes != 0; ++at, --bytes) sum = (sum ^ *at) * kPrime;
  return sum;
}

bool Same(const std::optional<Site>& a, const std::optional<Site>& b) noexcept {
  if (!a || !b) return a.has_value() == b.has_value();
  return detail::Same(*a, *b);
}
bool Same(const std::optional<Write>& a, const std::optional<Write>& b) noexcept {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->access == b->access && detail::Same(a->site, b->site);
}
void Mix(std::size_t& hash, std::size_t with) noexcept { hash = (hash ^ with) * 0x9e3779b97f4a7c15; }
void Mix(std::size_t& hash, const Site& site) noexcept {
  Mix(hash, reinterpret_cast<std::uintptr_t>(site.file()) + static_cast<std::size_t>(site.line()));
}

}  // namespace

bool Ledger::Book::Key::operator==(const Key& other) const noexcept {
  return kind == other.kind && access == other.access && purpose == other.purpose &&
         pageable == other.pageable && from == other.from && to == other.to && label == other.label &&
         Same(written, other.written) && Same(asked, other.asked);
}

std::size_t Ledger::Book::Hash::operator()(const Key& key) const noexcept {
  std::size_t hash = static_cast<std::size_t>(key.kind) * 8 + static_cast<std::size_t>(key.access);
  Mix(hash, key.label * 8 + static_cast<std::size_t>(key.purpose) * 2 + (key.pageable ? 1 : 0));
  Mix(hash, key.from * 64 + key.to);
  if (key.written) Mix(hash, key.written->site);
  if (key.asked) Mix(hash, *key.asked);
  return hash ^ (hash >> 32);
}

LedgerEntry& Ledger::Book::EntryOf(const Key& key) {
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  if (entries_.size() == kMost || key.label == kNoLabel) {
    LedgerEntry& entry = beyond_[static_cast<std::size_t>(key.kind)];
    entry.kind = key.kind;
    return entry;
  }
  LedgerEntry entry{.kind = key.kind,
                    .label = {},
                    .from = key.kind == LedgerKind::kCopy ? spaces_.NameOf(key.from) : std::string{},
                    .to = spaces_.NameOf(key.to),
                    .written = key.written,
                    .asked = key.asked,
                    .access = key.access,
                    .purpose = key.purpose,
                    .pageable = key.pageable};
  for (const auto& [text, number] : labels_)
    if (number == key.label) entry.label = text;
  return entries_.emplace(key, std::move(entry)).first->second;
}

Ledger::Book::Memory& Ledger::Book::MemoryOf(const SyncedMemory& memory) {
  const auto [found, fresh] = memories_.try_emplace(&memory);
  Memory& known = found->second;
  if (fresh || known.text != memory.label()) {
    known.text = memory.label();
    known.label = NumberOf(known.text);
  }
  return known;
}

std::size_t Ledger::Book::NumberOf(const std::string& label) {
  if (const auto known = labels_.find(label); known != labels_.end()) return known->second;
  return labels_.size() == kMost ? kNoLabel : labels_.try_emplace(label, labels_.size()).first->second;
}

Ledger::Book::Key Ledger::Book::KeyOf(const CopyRecord& copy, std::size_t label) {
  return {.kind = LedgerKind::kCopy,
          .label = label,
          .from = spaces_.NumberOf(copy.from),
          .to = spaces_.NumberOf(copy.to),
          .written = copy.written,
          .asked = copy.site,
          .access = copy.access,
          .purpose = copy.purpose,
          .pageable = copy.pageable};
}

void Ledger::Book::On(const UnreadRecord& unread) {
  const std::lock_guard lock(mutex_);
  ++EntryOf(KeyOf(*unread.copy, NumberOf(std::string(unread.label)))).unread;
}

/// Follows the copy, and says whether it takes the last one back. Of one by way of the host, both halves are
/// one trip.
bool Ledger::Book::Returns(const CopyRecord& copy, std::optional<Trip>& trip) noexcept {
  if (!copy.written) return false;
  const Site &written = copy.written->site, &asked = copy.site;
  const bool near = trip && trip->range.first == copy.range.first && trip->range.bytes == copy.range.bytes;
  const bool goes_on = near && copy.from == trip->to && detail::Same(written, trip->written) &&
                       detail::Same(asked, trip->asked);
  const bool returns = near && copy.from == trip->to && copy.to == trip->from &&
                       detail::Same(written, trip->asked) && detail::Same(asked, trip->written);
  trip = {written, asked, goes_on ? trip->from : copy.from, copy.to, copy.range};
  return returns && !goes_on;
}

/// Whether a device gets what it had when the host asked for it mutable: the host has not changed it.
bool Ledger::Book::InVain(const CopyRecord& copy, const Memory& memory) {
  const bool lent = copy.source != nullptr && memory.lent.bytes != 0 &&
                    memory.lent.first == copy.range.first && memory.lent.bytes == copy.range.bytes;
  return lent && memory.lenders.Has(copy.to, copy.range) &&
         SumOf(copy.source, copy.range.bytes) == memory.sum;
}

void Ledger::Book::On(const CopyRecord& copy) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*copy.memory);
  LedgerEntry& entry = EntryOf(KeyOf(copy, memory.label));
  ++entry.count;
  entry.bytes += copy.range.bytes;
  entry.took_ns += copy.took_ns;
  const bool in_vain = detail_ == Detail::kVerify && InVain(copy, memory);
  const bool returns = Returns(copy, memory.trip);
  if (in_vain)
    ++entry.unwritten, memory.trip.reset();  // its line has not written them
  else if (returns)
    ++entry.returned;
  if (copy.to == nullptr && copy.purpose == Purpose::kAccess) memory.fetched = Fetch{copy.site, copy.range};
  if (detail_ != Detail::kVerify) return;
  memory.held.Add(copy.from, copy.range);
  memory.held.Add(copy.to, copy.range);
}

void Ledger::Book::On(const AccessRecord& access) {
  const bool works = access.side == Side::kGpu && access.access != Access::kRead;
  if (!works && access.zeroed == 0 && detail_ != Detail::kVerify) return;  // nothing to count, or to know
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*access.memory);
  if (access.zeroed != 0) {  // not all losses are told
    memory.held.Remove(access.range);
    memory.lenders.Remove(access.range);
  }
  if (access.access != Access::kRead) {
    if (works) memory.written = {access.site, Clock::now()};
    memory.lent = {0, 0};
    if (detail_ == Detail::kVerify && access.access == Access::kReadWrite &&
        access.bytes_on_host != nullptr) {
      const bool host_alone = access.before == Head::HEAD_AT_CPU || access.before == Head::UNINITIALIZED;
      if (host_alone) memory.held.Remove(access.range);
      memory.lent = access.range;
      memory.sum = SumOf(access.bytes_on_host, access.range.bytes);
      memory.lenders = memory.held;
    }
    memory.held.Remove(access.range);
  }
  if (detail_ == Detail::kVerify && access.on != nullptr && access.purpose == Purpose::kAccess)
    memory.held.Add(&access.on->device(), access.range);
  if (access.zeroed == 0) return;
  LedgerEntry& entry = EntryOf({.kind = LedgerKind::kFill,
                                .label = memory.label,
                                .to = spaces_.NumberOf(access.on != nullptr ? &access.on->device() : nullptr),
                                .asked = access.site,
                                .access = access.access,
                                .purpose = access.purpose});
  ++entry.count;
  entry.bytes += access.zeroed;
  entry.took_ns += access.zeroing_ns;
}

/// Of bytes that are in place, no access is told.
void Ledger::Book::On(const CallRecord& call) {
  if (call.on == nullptr) return;
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  for (const auto& [memory, range, access] : call.operands)
    if (access != Access::kRead) MemoryOf(*memory).written = {call.site, now};
}

void Ledger::Book::On(const WaitRecord& wait) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(*wait.memory);
  LedgerEntry& entry = EntryOf({.kind = LedgerKind::kWait,
                                .label = memory.label,
                                .written = wait.written,
                                .asked = wait.site,
                                .access = wait.access});
  ++entry.count;
  entry.took_ns += wait.waited_ns;
  const auto fetched = std::exchange(memory.fetched, std::nullopt);
  const bool copies = wait.side == Side::kCpu && fetched && detail::Same(fetched->site, wait.site) &&
                      detail::Within(fetched->range, wait.range);
  const bool known = copies && wait.access == Access::kRead && wait.written && memory.written &&
                     detail::Same(wait.written->site, memory.written->site);
  if (known && Clock::now() - memory.written->at >= 2 * std::chrono::nanoseconds(wait.waited_ns))
    ++entry.in_time;
}

void Ledger::Book::On(const LifeRecord& life) {
  const std::lock_guard lock(mutex_);
  if (life.what == LifeRecord::What::kMemory) {
    if (!life.begins) memories_.erase(life.memory);
    return;
  }
  if (detail_ == Detail::kVerify) {  // a block that begins has nothing yet
    Memory& memory = MemoryOf(*life.memory);
    memory.held.Remove(life.device);
    memory.lenders.Remove(life.device);
  }
  if (!life.begins && !life.evicted) return;
  LedgerEntry& entry = EntryOf({.kind = life.begins ? LedgerKind::kAllocation : LedgerKind::kEviction,
                                .label = MemoryOf(*life.memory).label,
                                .to = spaces_.NumberOf(life.device),
                                .asked = life.site});
  ++entry.count;
  entry.bytes += life.bytes;
  entry.took_ns += life.took_ns;
}

/// One line of source can have several addresses, in several sources.
std::vector<LedgerEntry> Ledger::Book::Entries() const {
  const auto text = [](const LedgerEntry& entry) {
    const std::string written = entry.written ? detail::NameOf(entry.written->site) : "";
    return std::tuple(entry.kind, entry.label, entry.from, entry.to, written,
                      entry.written ? entry.written->access : Access::kRead,
                      entry.asked ? detail::NameOf(*entry.asked) : "", entry.access, entry.purpose,
                      entry.pageable);
  };
  std::map<decltype(text(beyond_[0])), LedgerEntry> joined;
  const auto add = [&](const LedgerEntry& entry) {
    if (entry.count == 0) return;
    const auto [found, fresh] = joined.try_emplace(text(entry), entry);
    if (fresh) return;
    LedgerEntry& sum = found->second;
    sum.count += entry.count, sum.bytes += entry.bytes, sum.unwritten += entry.unwritten;
    sum.returned += entry.returned, sum.unread += entry.unread;
    sum.in_time += entry.in_time, sum.took_ns += entry.took_ns;
  };
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) add(entry);
    for (const LedgerEntry& entry : beyond_) add(entry);
  }
  std::vector<LedgerEntry> entries;
  entries.reserve(joined.size());
  for (auto& [key, entry] : joined) entries.push_back(std::move(entry));
  std::stable_sort(entries.begin(), entries.end(), [](const LedgerEntry& a, const LedgerEntry& b) {
    return std::tie(a.bytes, a.took_ns) > std::tie(b.bytes, b.took_ns);
  });
  return entries;
}

Ledger::Ledger(Detail detail) : book_(std::make_shared<Book>(detail)), watch_(book_, Told::kOnceDone) {}
Ledger::~Ledger() = default;

std::vector<LedgerEntry> Ledger::Entries() const { return book_->Entries(); }
std::vector<std::string> Ledger::Advice() const { return detail::AdviceOn(Entries()); }
std::string Ledger::Table(std::size_t rows) const { return detail::TableOf(Entries(), rows); }
std::string Ledger::Json() const { return detail::JsonOf(Entries()); }

void Ledger::Write(const std::string& file) const {
  const detail::WithoutWriteSignals quiet;
  std::ofstream out(file, std::ios::binary);
  out << (file.ends_with(".json") ? Json() : Table(kAllRows));
  if (!out.flush())
    throw Error("Ledger: the file " + file + " cannot be written: " + std::generic_category().message(errno));
}

}  // namespace ferry
