// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/kernel_guard.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "core/memory/guard.hpp"
#include "core/memory/guard_levels.hpp"
#include "core/memory/guard_words.hpp"

namespace ferry::detail {

std::atomic<std::size_t> KernelGuard::blocks_{0};

/// Bytes of the block that are alike, and may not all be touched.
struct KernelGuard::Note::Run {
  std::size_t first, last;
  HostGuard::Words words;
};

/// The guarded blocks. Never destroyed: global memories give back theirs at exit.
class KernelGuard::Table {
 public:
  struct Block {
    const SyncedMemory* owner;
    const Buffer* buffer;
    std::size_t bytes;
  };
  using Blocks = std::map<const std::byte*, Block>;

  static Table& instance() {
    static auto* const table = new Table;
    return *table;
  }
  /// The block that the address is in.
  Blocks::iterator Find(const void* address) noexcept {
    const auto after = blocks.upper_bound(static_cast<const std::byte*>(address));
    if (after == blocks.begin()) return blocks.end();
    const auto block = std::prev(after);
    return static_cast<const std::byte*>(address) < block->first + block->second.bytes ? block : blocks.end();
  }
  static std::shared_ptr<const Note> NoteOf(const std::byte* begin, const Block& block);

  std::mutex mutex;
  Blocks blocks;
};

bool KernelGuard::Note::Forbids(const void* address, FaultAccess access) const noexcept {
  return std::any_of(limits_.begin(), limits_.end(), [&](const Limit& limit) {
    const auto* const at = static_cast<const std::byte*>(address);
    return limit.begin <= at && at < limit.begin + limit.bytes && begin_ <= at && at < begin_ + bytes_ &&
           (limit.allowed == Pages::Access::kNone || access != FaultAccess::kRead);
  });
}

void KernelGuard::Note::Describe(FaultLine& line, const void* address, FaultAccess access) const noexcept {
  const auto byte = static_cast<const std::byte*>(address) - begin_;
  const auto at = static_cast<std::size_t>(byte);
  line << HostGuard::Words::Verb(access) << " ";
  HostGuard::Words::NameByte(line, byte, label_, bytes_);
  const auto run = std::find_if(runs_.begin(), runs_.end(),
                                [&](const Run& one) { return one.first <= at && at < one.last; });
  if (run != runs_.end()) run->words.Describe(line, Side::kGpu, access);
}

void KernelGuard::NameForHost(FaultLine& line, const void* address) noexcept {
  if (blocks_ == 0) return;
  Table& table = Table::instance();
  if (!TryLockInHandler(table.mutex)) return;
  if (const auto block = table.Find(address); block != table.blocks.end()) {
    line << " It is ";
    HostGuard::Words::NameByte(line, static_cast<const std::byte*>(address) - block->first,
                               block->second.owner->label(), block->second.bytes);
    line << "call " << HostGuard::Words::RightAccess(Side::kCpu, FaultAccess::kUnknown) << " for the host.";
  }
  table.mutex.unlock();
}

/// Only where kernels are host code that a device queues. Elsewhere nobody asks.
void KernelGuard::Begin(const SyncedMemory& owner, const Buffer& buffer) noexcept try {
  if (!HostGuard::On() || buffer.kind != MemoryKind::kDevice) return;
  if (buffer.device->properties().launch == nullptr) return;
  Table& table = Table::instance();
  const std::lock_guard lock(table.mutex);
  table.blocks[static_cast<const std::byte*>(buffer.ptr)] = {&owner, &buffer, owner.capacity()};
  blocks_ = table.blocks.size();
} catch (const std::bad_alloc&) {
}

void KernelGuard::Forget(const void* ptr) noexcept {
  Table& table = Table::instance();
  const std::lock_guard lock(table.mutex);
  table.blocks.erase(static_cast<const std::byte*>(ptr));
  blocks_ = table.blocks.size();
}

/// A memory's lock comes before the table's. So who has the table's only tries, and where another thread is
/// in a call with the memory, lets it end.
std::shared_ptr<const KernelGuard::Note> KernelGuard::Look(const void* ptr) {
  Table& table = Table::instance();
  for (;; std::this_thread::yield()) {
    const std::lock_guard lock(table.mutex);
    const auto block = table.Find(ptr);
    if (block == table.blocks.end()) return nullptr;
    const std::unique_lock memory(block->second.owner->mutex_, std::try_to_lock);
    if (memory.owns_lock()) return Table::NoteOf(block->first, block->second);
  }
}

/// Halves the pages until those of a half are all alike.
std::shared_ptr<const KernelGuard::Note> KernelGuard::Table::NoteOf(const std::byte* begin,
                                                                    const Block& block) {
  const SyncedMemory& memory = *block.owner;
  unsigned space = kDevice;
  while (&memory.BufferOf(space) != block.buffer) ++space;
  const std::size_t page = Pages::page();
  const std::size_t before = reinterpret_cast<std::uintptr_t>(begin) % page;  // in front of it, on its page
  const auto note = std::make_shared<Note>();
  const auto look = [&](const auto& again, std::size_t from, std::size_t to) -> void {
    const Bytes bytes{from * page - std::min(from * page, before), to * page - before};
    const HostGuard::Levels levels(memory, space, bytes);
    if (levels.least() != levels.most() && to - from > 1) {
      again(again, from, from + (to - from) / 2);
      again(again, from + (to - from) / 2, to);
    } else if (levels.most() != Pages::Access::kReadWrite) {
      std::byte* const first = const_cast<std::byte*>(begin) - before + from * page;
      note->limits_.push_back({first, (to - from) * page, levels.most()});
    }
  };
  look(look, 0, (before + block.bytes + page - 1) / page);
  if (note->limits_.empty()) return nullptr;
  note->label_ = memory.label();
  note->begin_ = begin;
  note->bytes_ = block.bytes;
  memory.holders_.Each({0, memory.size_}, [&](Bytes run, Spaces) {
    note->runs_.push_back({run.first, run.last, HostGuard::Words::Of(memory, space, run.first)});
    return true;
  });
  if (memory.size_ < block.bytes)
    note->runs_.push_back({memory.size_, block.bytes, HostGuard::Words::Of(memory, space, memory.size_)});
  return note;
}

}  // namespace ferry::detail
