// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory/guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include "core/device/name.hpp"
#include "core/memory/guard_levels.hpp"
#include "core/memory/guard_table.hpp"
#include "core/watched.hpp"
#include "ferry/log.hpp"
#include "ferry/pointer_guard.hpp"

namespace ferry {
namespace {

std::atomic<bool> guards{false};

}  // namespace

PointerGuard SetPointerGuard(PointerGuard guard) {
  const bool on = guard == PointerGuard::kOn;
  const bool before = guards.exchange(on);
  static std::atomic<bool> watched{false};  // for good, as memories stay guarded: the report names who wrote
  if (on && !watched.exchange(true)) ++detail::watchers;
  return before ? PointerGuard::kOn : PointerGuard::kOff;
}

namespace detail {

bool HostGuard::On() noexcept { return guards.load(std::memory_order_relaxed); }

void* HostGuard::Make(const SyncedMemory& owner, std::size_t bytes) noexcept try {
  return Table::instance().Make(owner, bytes);
} catch (const std::exception& error) {
  guards = false;
  Log(LogLevel::kWarning,
      "FERRY_GUARD: no memory is guarded from now on, for want of memory or address space");
  Log(LogLevel::kWarning, error.what());
  return nullptr;
}

void HostGuard::NoteUnguarded(const SyncedMemory& memory, bool unified) noexcept try {
  static std::atomic<bool> said[2]{};
  if (Table::instance().open() || said[unified ? 1 : 0].exchange(true)) return;
  const std::string& label = memory.label();
  Log(LogLevel::kWarning, "FERRY_GUARD: the " + std::to_string(memory.capacity()) + " bytes of " +
                              (label.empty() ? "a memory" : Quoted(label)) + " are not guarded: " +
                              (unified ? "a device that uses it works on the host's memory"
                                       : "there are " + std::to_string(Table::kMost) +
                                             " guarded memories, they are too large, or the process was "
                                             "forked"));
} catch (const std::bad_alloc&) {  // it stays unsaid
}

void HostGuard::Share(const SyncedMemory& memory, const Device& with) noexcept {
  const Buffer& host = memory.BufferOf(kHost);
  const bool unified = with.properties().unified;
  if (unified && host.guarded) {
    NoteUnguarded(memory, true);
    RefreshPages(memory, {});
  } else if (!unified && On() && memory.unified_ && host.ptr != nullptr && !host.adopted()) {
    NoteUnguarded(memory, true);  // its pointers can become stale from now on
  }
}

void HostGuard::GiveBack(const SyncedMemory& owner, void* ptr, const Site* released) noexcept {
  Table::instance().GiveBack(ptr, owner.label(), released);
}
void HostGuard::Lose(const SyncedMemory& owner, void* ptr) noexcept {
  Table::instance().Lose(ptr, owner.label());
}
void HostGuard::NoteReplacedPages(const SyncedMemory& memory, Instead what, const Site& by) noexcept {
  const char* const whose =
      what == Instead::kOfMemory ? " has given the memory other bytes" : " has given its blob other bytes";
  Table::instance().NoteTaken(memory.cpu_.ptr, {by, whose});
}
std::byte* HostGuard::Reach(const void* ptr) noexcept { return Table::instance().Reach(ptr); }
void HostGuard::RefreshPages(const SyncedMemory& memory, Bytes bytes) noexcept {
  Table::instance().Refresh(memory, bytes);
}

HostGuard::Table& HostGuard::Table::instance() {
  static auto* const table = new Table;
  return *table;
}

void* HostGuard::Table::Make(const SyncedMemory& owner, std::size_t bytes) {
  if (getpid() != process_) return nullptr;  // after a fork, the pages are the parent's, too
  ReportFaults(*this);
  if (bytes > pages_.size() / 2) return nullptr;
  const std::size_t span = Pages::RoundUp(bytes);
  const std::lock_guard lock(mutex_);
  if (open_ || live_ == kMost) return nullptr;
  std::byte* begin = Room(span + Pages::page());
  for (; begin == nullptr && !gone_.empty(); begin = Room(span + Pages::page())) ForgetOldest();
  if (begin == nullptr) return nullptr;
  blocks_.emplace(
      begin, Block{&owner, {}, {}, begin, bytes, std::vector<Access>(span / Pages::page(), Access::kNone)});
  ++live_;
  return begin;
}

/// From where the last one was found, so that addresses come again late. With a page behind that nobody
/// opens.
std::byte* HostGuard::Table::Room(std::size_t span) {
  std::byte* const end = pages_.seen() + pages_.size();
  for (int pass = 0; pass < 2; ++pass, next_ = pages_.seen()) {
    for (auto block = blocks_.lower_bound(next_);; ++block) {
      const std::size_t room =
          static_cast<std::size_t>((block == blocks_.end() ? end : block->second.begin) - next_);
      if (span <= room) return std::exchange(next_, next_ + span);
      if (block == blocks_.end()) break;
      next_ = block->second.begin + (block->second.pages.size() + 1) * Pages::page();
    }
  }
  return nullptr;
}

void HostGuard::Table::GiveBack(void* ptr, const std::string& label, const Site* released) noexcept {
  if (getpid() != process_) return;  // as in Make
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<std::byte*>(ptr));
  End(found->second, label);
  if (released != nullptr) found->second.taken = {*released, " has released its host bytes"};
  pages_.Discard(found->second.begin, found->second.pages.size() * Pages::page());
  --live_;
  try {
    gone_.push_back(found->first);
    if (gone_.size() > kKept) ForgetOldest();
  } catch (const std::bad_alloc&) {
    blocks_.erase(found);
  }
}

void HostGuard::Table::ForgetOldest() noexcept {
  blocks_.erase(gone_.front());
  gone_.pop_front();
}

void HostGuard::Table::NoteTaken(void* ptr, const Taken& taken) noexcept {
  if (getpid() != process_) return;  // as in Make
  const std::lock_guard lock(mutex_);
  blocks_.find(static_cast<std::byte*>(ptr))->second.taken = taken;
}

void HostGuard::Table::Lose(void* ptr, const std::string& label) noexcept {
  const std::lock_guard lock(mutex_);
  End(blocks_.find(static_cast<std::byte*>(ptr))->second, label);
}

void HostGuard::Table::End(Block& block, const std::string& label) noexcept {
  Apply(block, 0, block.pages.size(), Access::kNone);
  block.owner = nullptr;
  try {
    block.label = label;
  } catch (const std::exception&) {  // a memory without a label then
  }
}

/// The block that has the address, or the last one before it.
HostGuard::Table::Blocks::iterator HostGuard::Table::Find(const void* address) noexcept {
  const auto after = blocks_.upper_bound(static_cast<const std::byte*>(address));
  return after == blocks_.begin() ? blocks_.end() : std::prev(after);
}

/// Halves the pages until those of a half are all alike.
void HostGuard::Table::Refresh(const SyncedMemory& memory, Bytes bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (open_) return;
  const std::size_t page = Pages::page();
  Block& block = blocks_.find(static_cast<std::byte*>(memory.cpu_.ptr))->second;
  const auto refresh = [&](const auto& again, std::size_t from, std::size_t to) -> void {
    if (from >= to) return;
    const HostGuard::Levels levels(memory, kHost, {from * page, to * page});
    if (levels.least() == levels.most() || to - from == 1) return Apply(block, from, to, levels.most());
    again(again, from, from + (to - from) / 2);
    again(again, from + (to - from) / 2, to);
  };
  const std::size_t last = std::min(bytes.last, block.bytes);
  if (bytes.first < last) refresh(refresh, bytes.first / page, (last + page - 1) / page);
}

void HostGuard::Table::Apply(Block& block, std::size_t from, std::size_t to, Access access) noexcept {
  for (; from < to && block.pages[from] == access; ++from) {
  }
  for (; from < to && block.pages[to - 1] == access; --to) {
  }
  if (from == to || open_) return;
  const std::size_t page = Pages::page();
  if (!Pages::Open(block.begin + from * page, (to - from) * page, access)) return OpenAll();
  std::fill(block.pages.begin() + static_cast<std::ptrdiff_t>(from),
            block.pages.begin() + static_cast<std::ptrdiff_t>(to), access);
}

/// One mapping again, which needs no further ones.
void HostGuard::Table::OpenAll() noexcept {
  open_ = true;
  within_reach_ = Pages::Open(pages_.seen(), pages_.size(), Access::kReadWrite);
  Log(LogLevel::kWarning,
      "FERRY_GUARD: the system has no memory mappings left (vm.max_map_count); nothing is guarded any more");
}

}  // namespace detail
}  // namespace ferry
