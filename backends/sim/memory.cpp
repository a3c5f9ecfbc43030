// SPDX-License-Identifier: BSD-2-Clause
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>

namespace ferry::sim {
namespace {

constexpr int kPattern = 0xA5;
constexpr std::size_t kKept = std::size_t{64} << 20;  // freed bytes that keep their pages and their place

std::size_t RoundUp(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

bool IsPattern(const std::byte* begin, const std::byte* end) {
  return begin == end || (*begin == std::byte{kPattern} &&
                          std::memcmp(begin, begin + 1, static_cast<std::size_t>(end - begin) - 1) == 0);
}

}  // namespace

Memory::Memory()
    : pages_("the simulated GPU", kReserved),
      guarded_{2 * kSlots * Pages::page(), kReserved / 4 * 3},
      crowd_{guarded_.end, kReserved} {
  const auto fail = [](const char* call) {
    throw std::system_error(errno, std::generic_category(), std::string("the simulated GPU: ") + call);
  };
  // Here, so that no allocation needs it when mappings are short.
  if (!Pages::Open(pages_.seen() + crowd_.begin, crowd_.end - crowd_.begin, Pages::Access::kReadWrite))
    fail("mprotect");
  // Each of the first pages is a mapping of its own, with a page of another kind behind: small tests live in
  // them, and to change the access of a whole mapping costs the kernel a fifth of what it costs to split one.
  const std::size_t page = Pages::page();
  for (std::size_t i = 0; i < kSlots; ++i)
    if (mmap(pages_.seen() + (2 * i + 1) * page, page, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1,
             0) == MAP_FAILED)
      fail("mmap");
}

Block* Memory::Make(MemoryKind kind, std::size_t bytes, std::size_t alignment, int device, const Call& call) {
  if (bytes > kReserved / 2) return nullptr;
  const Block wanted{nullptr, bytes, kind, device, call, nullptr, 0, false};
  if (guards_ == Guards::kNever) return MakeInCrowd(wanted);
  if (Block* const block = MakeGuarded(wanted, alignment)) return block;
  return kind == MemoryKind::kDevice ? nullptr : MakeInCrowd(wanted);
}

Block* Memory::MakeGuarded(const Block& wanted, std::size_t alignment) {
  const bool host = wanted.kind != MemoryKind::kDevice;
  if (host && host_guarded_ == kGuarded) return nullptr;
  Block block = wanted;
  block.span = Pages::RoundUp(block.bytes);
  block.guarded = true;
  block.begin = block.span == Pages::page() && slots_used_ < kSlots ? Slot() : Take(guarded_, Taken(block));
  if (block.begin == nullptr) return nullptr;
  block.address = block.begin + (block.span - RoundUp(block.bytes, alignment));
  Block& made = Note(block);
  if (!host) return &made;
  if (!Pages::Open(made.begin, made.span, Pages::Access::kReadWrite))
    return blocks_.erase(block.address), nullptr;
  ++host_guarded_;
  return &made;
}

Block* Memory::MakeInCrowd(const Block& wanted) {
  constexpr std::size_t kCanary = 256;  // in bytes, on either side; aligned enough for all blocks
  Block block = wanted;
  block.span = RoundUp(block.bytes, kCanary) + 2 * kCanary;
  block.begin = Take(crowd_, block.span);
  if (block.begin == nullptr) return nullptr;
  block.address = block.begin + kCanary;
  return &Note(block);
}

Block& Memory::Note(const Block& block) {
  Block& noted = blocks_.emplace(block.address, block).first->second;
  std::memset(pages_.Work(block.begin), kPattern, block.span);
  return noted;
}

std::byte* Memory::Slot() { return pages_.seen() + 2 * Pages::page() * slots_used_++; }

std::byte* Memory::Take(Arena& arena, std::size_t span) {
  for (int pass = 0; pass < 2; ++pass, arena.next = arena.begin) {
    for (auto it = blocks_.lower_bound(pages_.seen() + arena.next);; ++it) {
      const bool last = it == blocks_.end() || it->first >= pages_.seen() + arena.end;
      const std::size_t end = last ? arena.end : static_cast<std::size_t>(it->second.begin - pages_.seen());
      if (arena.next + span <= end) {
        arena.next += span;
        arena.used = std::max(arena.used, arena.next);
        return pages_.seen() + arena.next - span;
      }
      if (last) break;
      arena.next = end + Taken(it->second);
    }
  }
  return nullptr;
}

Block* Memory::Find(const void* ptr) {
  auto it = blocks_.upper_bound(static_cast<const std::byte*>(ptr));
  if (it == blocks_.begin()) return nullptr;
  --it;
  return it->second.contains(ptr) ? &it->second : nullptr;
}

const Block* Memory::Nearest(const void* ptr) const {
  const auto* const byte = static_cast<const std::byte*>(ptr);
  const auto after = blocks_.upper_bound(byte);
  const Block* const behind = after == blocks_.end() ? nullptr : &after->second;
  if (after == blocks_.begin()) return behind;
  const Block* const before = &std::prev(after)->second;
  if (behind == nullptr || before->contains(ptr)) return before;
  return byte - before->end() < behind->address - byte ? before : behind;
}

Memory::Canaries Memory::Inspect(const Block& block) const {
  if (!IsPattern(pages_.Work(block.end()), pages_.Work(block.begin) + block.span))
    return Canaries::kWrittenBehind;
  return IsPattern(pages_.Work(block.begin), pages_.Work(block.address)) ? Canaries::kIntact
                                                                         : Canaries::kWrittenInFront;
}

Memory::Canaries Memory::Retire(Block& block) {
  block.live = false;
  const Canaries canaries = Inspect(block);
  if (block.kind != MemoryKind::kDevice && block.guarded) {
    (void)Pages::Open(block.begin, block.span, Pages::Access::kNone);
    --host_guarded_;
  }
  retired_.push_back(block.address);
  retired_bytes_ += block.span;
  while (retired_bytes_ > kKept) {
    const auto oldest = blocks_.find(retired_.front());
    if (oldest->second.uses != 0) break;  // queued work has yet to be told
    pages_.Discard(oldest->second.begin, oldest->second.span);
    retired_bytes_ -= oldest->second.span;
    blocks_.erase(oldest);
    retired_.pop_front();
  }
  return canaries;
}

bool Memory::Open(const Block& block, bool writes) {
  return !block.out_of_reach() ||
         Pages::Open(block.begin, block.span, writes ? Pages::Access::kReadWrite : Pages::Access::kRead);
}
void Memory::Close(const Block& block) {
  if (block.out_of_reach()) (void)Pages::Open(block.begin, block.span, Pages::Access::kNone);
}

void Memory::Clear(Guards guards) {
  guards_ = guards;
  for (const auto& [address, block] : blocks_)
    if (block.live && block.guarded && block.kind != MemoryKind::kDevice)
      (void)Pages::Open(block.begin, block.span, Pages::Access::kNone);
  blocks_.clear();
  retired_.clear();
  retired_bytes_ = 0;
  host_guarded_ = 0;
  slots_used_ = 0;
  Forget(guarded_);
  Forget(crowd_);
}

void Memory::Forget(Arena& arena) {
  if (arena.used - arena.begin > kKept) {
    pages_.Discard(pages_.seen() + arena.begin, arena.used - arena.begin);
    arena.used = arena.begin;
  }
  arena.next = arena.begin;
}

}  // namespace ferry::sim
