// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "ferry/device.hpp"

namespace ferry::sim {

/// A call of the runtime, for reports: "MemcpyAsync (call 7)".
struct Call {
  const char* name;
  long number;  ///< of the calls that can fail, counted from 1
  bool counted = true;

  std::string text() const {
    return std::string(name) + (counted ? " (call " : " (after call ") + std::to_string(number) + ")";
  }
};

struct Block {
  std::byte* address;
  std::size_t bytes;
  MemoryKind kind;
  int device;
  Call made;
  bool born = true;    ///< not before its stream gets to the allocation
  bool freed = false;  ///< the caller gave it back
  bool live = true;    ///< until that has run
  int uses = 0;        ///< by queued work

  bool contains(const void* ptr) const { return ptr >= address && ptr < address + bytes; }
};

/// The memory of all devices, and what of the host's is pinned or managed. One stretch of address space is
/// mapped twice: where callers see it, kDevice pages are out of reach, and the simulator works through the
/// other mapping. Every block has its own pages, with a gap behind; no address is used twice before long
/// after it was freed. Not thread-safe.
class Memory {
 public:
  Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// nullptr where there is no room. The block is full of a pattern that is nobody's data.
  Block* Make(MemoryKind kind, std::size_t bytes, int device, const Call& call);
  /// The block around `ptr`, or one freed not long ago, or nullptr.
  Block* Find(const void* ptr);
  /// Whether `ptr` is, or was, in a block.
  bool Owns(const void* ptr) const { return ptr >= seen_ && ptr < seen_ + kReserved; }
  /// After this it stays out of reach, and is kept for a while to recognize its pointers. Returns false if
  /// somebody wrote behind its end.
  bool Retire(Block& block);

  /// Puts a kDevice block within a kernel's reach, and out of it again.
  void Open(const Block& block);
  void Close(const Block& block);
  /// Where the simulator itself finds the bytes at `ptr`, which may be anybody's.
  void* Reach(const Block* block, void* ptr) const {
    return block != nullptr && block->kind == MemoryKind::kDevice
               ? work_ + (static_cast<std::byte*>(ptr) - seen_)
               : ptr;
  }

  /// Forgets all blocks; their pages serve the next ones.
  void Clear();

  const std::map<const std::byte*, Block>& blocks() const { return blocks_; }

 private:
  static constexpr std::size_t kReserved = std::size_t{256} << 30;
  static constexpr std::size_t kSlots = 64;

  std::size_t Span(std::size_t bytes) const { return (bytes + page_ - 1) / page_ * page_; }
  std::size_t slots_end() const { return 2 * kSlots * page_; }
  std::byte* Place(std::size_t span);
  void Discard(std::size_t offset, std::size_t span);

  std::size_t page_;
  int file_;
  std::byte* seen_;
  std::byte* work_;
  std::map<const std::byte*, Block> blocks_;  ///< by address; live ones, and those in retired_
  std::deque<const std::byte*> retired_;
  std::size_t retired_bytes_ = 0;
  std::size_t slots_used_ = 0;
  std::size_t next_;      ///< where the search for room begins
  std::size_t used_ = 0;  ///< beyond this no page was touched
};

}  // namespace ferry::sim
