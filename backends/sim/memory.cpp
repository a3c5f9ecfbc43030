// SPDX-License-Identifier: BSD-2-Clause
#include "memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <system_error>

namespace ferry::sim {
namespace {

constexpr int kPattern = 0xA5;
constexpr std::size_t kKept = std::size_t{64} << 20;  // freed bytes that keep their pages and their place

[[noreturn]] void ThrowErrno(const char* what) {
  throw std::system_error(errno, std::generic_category(), std::string("the simulated GPU: ") + what);
}

std::byte* Map(int file, std::size_t bytes, int access) {
  void* const p = mmap(nullptr, bytes, access, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (p == MAP_FAILED) ThrowErrno("mmap");
  return static_cast<std::byte*>(p);
}

}  // namespace

Memory::Memory()
    : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), file_(memfd_create("ferry-sim", MFD_CLOEXEC)) {
  if (file_ < 0) ThrowErrno("memfd_create");
  if (ftruncate(file_, static_cast<off_t>(kReserved)) != 0) ThrowErrno("ftruncate");
  seen_ = Map(file_, kReserved, PROT_NONE);
  work_ = Map(file_, kReserved, PROT_READ | PROT_WRITE);
  next_ = slots_end();
  // Each of the first pages is a mapping of its own, with a page of another kind behind: small tests live in
  // them, and to change the access of a whole mapping costs the kernel a fifth of what it costs to split one.
  for (std::size_t i = 0; i < kSlots; ++i)
    if (mmap(seen_ + (2 * i + 1) * page_, page_, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
      ThrowErrno("mmap");
}

Block* Memory::Make(MemoryKind kind, std::size_t bytes, int device, const Call& call) {
  if (bytes > kReserved / 2) return nullptr;
  const std::size_t span = Span(bytes);
  std::byte* const address = Place(span + page_);
  if (address == nullptr) return nullptr;
  used_ = std::max(used_, next_);
  std::memset(work_ + (address - seen_), kPattern, span);
  if (kind != MemoryKind::kDevice) mprotect(address, span, PROT_READ | PROT_WRITE);
  return &blocks_.emplace(address, Block{address, bytes, kind, device, call}).first->second;
}

/// From where the last block ended, and from the beginning once the end is reached.
std::byte* Memory::Place(std::size_t span) {
  if (span == 2 * page_ && slots_used_ < kSlots) return seen_ + span * slots_used_++;
  for (int pass = 0; pass < 2; ++pass, next_ = slots_end()) {
    for (auto it = blocks_.lower_bound(seen_ + next_);; ++it) {
      const std::size_t end = it == blocks_.end() ? kReserved : static_cast<std::size_t>(it->first - seen_);
      if (next_ + span <= end) {
        next_ += span;
        return seen_ + next_ - span;
      }
      if (it == blocks_.end()) break;
      next_ = end + Span(it->second.bytes) + page_;
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

bool Memory::Retire(Block& block) {
  block.live = false;
  const std::byte* const bytes = work_ + (block.address - seen_);
  const std::byte *const rest = bytes + block.bytes, *const end = bytes + Span(block.bytes);
  const bool intact =
      rest == end || (*rest == std::byte{kPattern} &&
                      std::memcmp(rest, rest + 1, static_cast<std::size_t>(end - rest) - 1) == 0);
  if (block.kind != MemoryKind::kDevice) mprotect(block.address, Span(block.bytes), PROT_NONE);
  retired_.push_back(block.address);
  retired_bytes_ += Span(block.bytes);
  while (retired_bytes_ > kKept) {
    const auto oldest = blocks_.find(retired_.front());
    if (oldest->second.uses != 0) break;  // queued work has yet to be told
    const std::size_t span = Span(oldest->second.bytes);
    Discard(static_cast<std::size_t>(oldest->first - seen_), span);
    retired_bytes_ -= span;
    blocks_.erase(oldest);
    retired_.pop_front();
  }
  return intact;
}

void Memory::Discard(std::size_t offset, std::size_t span) {
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(span));
}

void Memory::Open(const Block& block) {
  if (block.kind == MemoryKind::kDevice) mprotect(block.address, Span(block.bytes), PROT_READ | PROT_WRITE);
}
void Memory::Close(const Block& block) {
  if (block.kind == MemoryKind::kDevice) mprotect(block.address, Span(block.bytes), PROT_NONE);
}

void Memory::Clear() {
  for (const auto& [address, block] : blocks_)
    if (block.live && block.kind != MemoryKind::kDevice)
      mprotect(block.address, Span(block.bytes), PROT_NONE);
  blocks_.clear();
  retired_.clear();
  retired_bytes_ = 0;
  if (used_ > kKept) {
    Discard(0, used_);
    used_ = 0;
  }
  slots_used_ = 0;
  next_ = slots_end();
}

}  // namespace ferry::sim
