// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "ferry/detail/pages.hpp"
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
  std::byte* begin;    ///< of its stretch: a canary, the block, a canary
  std::size_t span;    ///< of its stretch, in bytes
  bool guarded;        ///< has pages of its own, with a page behind that nobody can touch
  bool born = true;    ///< not before its stream gets to the allocation
  bool freed = false;  ///< the caller gave it back
  bool live = true;    ///< until that has run
  int uses = 0;        ///< by queued work

  std::byte* end() const { return address + bytes; }
  bool contains(const void* ptr) const { return ptr >= address && ptr < end(); }
  /// To everybody except a kernel that uses it.
  bool out_of_reach() const { return guarded && kind == MemoryKind::kDevice; }
};

/// The memory of all devices, and what of the host's is pinned or managed. One stretch of address space is
/// mapped twice: where callers see it, kDevice pages are out of reach, and the simulator works through the
/// other mapping. A block ends where its pages end, and the page behind is out of reach; no address is used
/// twice before long after it was freed. Decision 0008 says why. Not thread-safe.
class Memory {
 public:
  Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// The host's blocks that are guarded at once; each costs two of the system's memory mappings, of which a
  /// process has 65,530 (vm.max_map_count). Those beyond share one mapping, and have canaries alone.
  static constexpr std::size_t kGuarded = 8192;

  /// nullptr where there is no room. The block is full of a pattern that is nobody's data, and so are its
  /// canaries. It begins at a multiple of `alignment`, a power of two up to 256.
  Block* Make(MemoryKind kind, std::size_t bytes, std::size_t alignment, int device, const Call& call);
  /// The block around `ptr`, or one freed not long ago, or nullptr.
  Block* Find(const void* ptr);
  /// The block that `ptr` is in or, of its neighbours, the nearer one; nullptr where there are none.
  const Block* Nearest(const void* ptr) const;
  /// Whether `ptr` is, or was, in a block.
  bool Owns(const void* ptr) const { return pages_.Owns(ptr); }
  enum class Canaries : std::uint8_t { kIntact, kWrittenInFront, kWrittenBehind };
  /// After this a guarded block stays out of reach. It is kept for a while to recognize its pointers.
  Canaries Retire(Block& block);

  /// Puts a block that is out of reach within a kernel's, for reading alone unless `writes`; false where the
  /// system has no mappings left.
  [[nodiscard]] static bool Open(const Block& block, bool writes);
  static void Close(const Block& block);
  /// Where the simulator itself finds the bytes at `ptr`, which may be anybody's.
  void* Reach(const Block* block, void* ptr) const {
    return block != nullptr && block->kind == MemoryKind::kDevice ? pages_.Work(ptr) : ptr;
  }

  enum class Guards : std::uint8_t { kNever, kWhereThereIsRoom };
  /// Forgets all blocks; their pages serve the next ones.
  void Clear(Guards guards);

  const std::map<const std::byte*, Block>& blocks() const { return blocks_; }

 private:
  using Pages = detail::Pages;
  static constexpr std::size_t kReserved = std::size_t{256} << 30;
  static constexpr std::size_t kSlots = 64;

  /// A part of the address space, by offsets. It gives room from where it last did to its end, then from its
  /// beginning.
  struct Arena {
    std::size_t begin, end;
    std::size_t next = begin;
    std::size_t used = begin;  ///< beyond this no page was touched
  };

  Block* MakeGuarded(const Block& wanted, std::size_t alignment);
  Block* MakeInCrowd(const Block& wanted);
  Block& Note(const Block& block);
  std::byte* Slot();
  std::byte* Take(Arena& arena, std::size_t span);
  static std::size_t Taken(const Block& block) { return block.span + (block.guarded ? Pages::page() : 0); }
  Canaries Inspect(const Block& block) const;
  void Forget(Arena& arena);

  Pages pages_;
  Arena guarded_;
  Arena crowd_;                               ///< within reach from the beginning, and for ever
  std::map<const std::byte*, Block> blocks_;  ///< by address; live ones, and those in retired_
  std::deque<const std::byte*> retired_;
  std::size_t retired_bytes_ = 0;
  std::size_t slots_used_ = 0;
  Guards guards_ = Guards::kWhereThereIsRoom;
  std::size_t host_guarded_ = 0;  ///< live blocks
};

}  // namespace ferry::sim
