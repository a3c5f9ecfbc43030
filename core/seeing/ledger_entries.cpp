// SPDX-License-Identifier: BSD-2-Clause
// The entries of a ledger: what they have in common, and how they are found and joined.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/seeing/ledger.hpp"
#include "core/seeing/words.hpp"

namespace ferry {
namespace {

bool Same(const std::optional<Site>& a, const std::optional<Site>& b) noexcept {
  if (!a || !b) return a.has_value() == b.has_value();
  return detail::Same(*a, *b);
}
void Mix(std::size_t& hash, std::size_t with) noexcept { hash = (hash ^ with) * 0x9e3779b97f4a7c15; }
void Mix(std::size_t& hash, const Site& site) noexcept {
  Mix(hash, reinterpret_cast<std::uintptr_t>(site.file()) + static_cast<std::size_t>(site.line()));
}

}  // namespace

bool Ledger::Book::Name::operator==(const Name& other) const noexcept {
  return label == other.label && Same(made, other.made);
}
bool Ledger::Book::Key::operator==(const Key& other) const noexcept {
  return kind == other.kind && access == other.access && purpose == other.purpose &&
         pageable == other.pageable && from == other.from && to == other.to && name == other.name &&
         detail::Same(written, other.written) && Same(asked, other.asked);
}

std::size_t Ledger::Book::Hash::operator()(const Name& name) const noexcept {
  std::size_t hash = std::hash<std::string>()(name.label);
  if (name.made) Mix(hash, *name.made);
  return hash;
}
std::size_t Ledger::Book::Hash::operator()(const Key& key) const noexcept {
  std::size_t hash = static_cast<std::size_t>(key.kind) * 8 + static_cast<std::size_t>(key.access);
  Mix(hash, reinterpret_cast<std::uintptr_t>(key.name) * 8 + static_cast<std::size_t>(key.purpose) * 2 +
                (key.pageable ? 1 : 0));
  Mix(hash, key.from * 64 + key.to);
  if (key.written) Mix(hash, key.written->site);
  if (key.asked) Mix(hash, *key.asked);
  return hash ^ (hash >> 32);
}

Ledger::Book::Counted& Ledger::Book::EntryOf(const Key& key) {
  if (const auto found = entries_.find(key); found != entries_.end()) return *found;
  if (entries_.size() == kMost) SumSmallest(key.name);
  LedgerEntry entry{.kind = key.kind,
                    .label = key.name->label,
                    .made = key.name->made,
                    .from = key.kind == LedgerKind::kCopy ? spaces_.NameOf(key.from) : std::string{},
                    .to = spaces_.NameOf(key.to),
                    .written = key.written,
                    .asked = key.asked,
                    .access = key.access,
                    .purpose = key.purpose,
                    .pageable = key.pageable};
  return *entries_.emplace(key, std::move(entry)).first;
}

/// A memory's next copy mostly counts where its last one did.
LedgerEntry& Ledger::Book::Count(Memory& memory, const Key& key, std::uint64_t bytes, std::int64_t took_ns) {
  Counted*& counted = memory.counted[static_cast<std::size_t>(key.kind)];
  if (counted == nullptr || counted->first != key) counted = &EntryOf(key);
  return Add(counted->second, bytes, took_ns);
}
LedgerEntry& Ledger::Book::Count(const Key& key, std::uint64_t bytes, std::int64_t took_ns) {
  return Add(EntryOf(key).second, bytes, took_ns);
}
LedgerEntry& Ledger::Book::Add(LedgerEntry& entry, std::uint64_t bytes, std::int64_t took_ns) noexcept {
  ++entry.count;
  entry.bytes += bytes;
  entry.took_ns += took_ns;
  return entry;
}

LedgerEntry* Ledger::Book::Find(const Key& key) {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void Ledger::Book::AddTo(LedgerEntry& sum, const LedgerEntry& entry) noexcept {
  sum.count += entry.count, sum.bytes += entry.bytes, sum.took_ns += entry.took_ns;
  sum.unwritten += entry.unwritten, sum.returned += entry.returned, sum.unread += entry.unread;
  sum.pending += entry.pending, sum.in_time += entry.in_time;
}

/// Half of the entries of each kind, those with the least bytes and then the least time, become one.
void Ledger::Book::SumSmallest(const Name* wanted) {
  for (auto& [memory, known] : memories_) known.counted = {};
  std::array<std::vector<const Counted*>, kKinds> of_kind;
  for (const Counted& one : entries_) of_kind[static_cast<std::size_t>(one.second.kind)].push_back(&one);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    auto& all = of_kind[kind];
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() + 1) / 2);
    std::nth_element(all.begin(), middle, all.end(), [](const Counted* a, const Counted* b) {
      return std::tie(a->second.bytes, a->second.took_ns) < std::tie(b->second.bytes, b->second.took_ns);
    });
    small_[kind].kind = static_cast<LedgerKind>(kind);
    for (auto one = all.begin(); one != middle; ++one) {
      AddTo(small_[kind], (*one)->second);
      entries_.erase(entries_.find((*one)->first));
    }
  }
  ForgetNames(wanted);
}

/// Those that no entry and no live memory has, and nobody wants.
void Ledger::Book::ForgetNames(const Name* wanted) {
  std::unordered_set<const Name*> used{wanted};
  for (const auto& [key, entry] : entries_) used.insert(key.name);
  for (const auto& [memory, known] : memories_) used.insert(known.name);
  std::erase_if(names_, [&](const Name& name) { return !used.contains(&name); });
  most_names_ = std::max(kMost, 2 * names_.size());
}

/// Until it is forgotten, it stays where it is.
const Ledger::Book::Name* Ledger::Book::NameOf(const std::string& label, const std::optional<Site>& made) {
  if (names_.size() >= most_names_) ForgetNames();
  return &*names_.insert(Name{label, label.empty() ? made : std::nullopt}).first;
}

/// One line of source can have several addresses, in several sources.
std::vector<LedgerEntry> Ledger::Book::Entries() const {
  const auto text = [](const LedgerEntry& entry) {
    const std::string written = entry.written ? detail::NameOf(entry.written->site) : "";
    return std::tuple(entry.kind, entry.label, entry.made ? detail::NameOf(*entry.made) : "", entry.from,
                      entry.to, written, entry.written ? entry.written->access : Access::kRead,
                      entry.asked ? detail::NameOf(*entry.asked) : "", entry.access, entry.purpose,
                      entry.pageable);
  };
  std::map<decltype(text(small_[0])), LedgerEntry> joined;
  const auto add = [&](const LedgerEntry& entry) {
    if (entry.count == 0) return;
    const auto [found, fresh] = joined.try_emplace(text(entry), entry);
    if (!fresh) AddTo(found->second, entry);
  };
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) add(entry);
    for (const LedgerEntry& entry : small_) add(entry);
  }
  std::vector<LedgerEntry> entries;
  entries.reserve(joined.size());
  for (auto& [key, entry] : joined) entries.push_back(std::move(entry));
  std::stable_sort(entries.begin(), entries.end(), [](const LedgerEntry& a, const LedgerEntry& b) {
    return std::tie(a.bytes, a.took_ns) > std::tie(b.bytes, b.took_ns);
  });
  return entries;
}

}  // namespace ferry
