// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ferry/coherence.hpp"
#include "ferry/device.hpp"
#include "ferry/diff.hpp"
#include "ferry/memory_ptr.hpp"
#include "ferry/site.hpp"

namespace ferry::detail {

/// A blob's two arrays on their way to another size and to other bytes: all that can fail first, then Commit.
/// Destroyed without it, it has left no trace, except where a caller has written.
class Reshaping {
 public:
  /// What one of them refers to.
  struct Storage {
    MemoryPtr& memory;
    std::size_t& first;  ///< byte
  };
  enum class Room : std::uint8_t { kEnough, kExact };

  /// Makes new storage where there is none, where the capacity is below `after`, and with kExact also where
  /// it is above and nobody shares it. `before` and `after` are the bytes that the blob uses; `name` is the
  /// blob's, `site` the call's, which stays.
  Reshaping(Storage data, Storage diff, std::size_t before, std::size_t after, Device& device,
            const std::string& name, Room room, const Site& site);
  ~Reshaping();
  Reshaping(const Reshaping&) = delete;
  Reshaping& operator=(const Reshaping&) = delete;

  /// The first `after` bytes of these, or of none of them, for a host that writes them all.
  void Write(std::span<const BlobPart> parts, std::span<void*> ptrs, const Site& site);
  /// They become those of `from` from byte `from_first` on: where these are, or on `on`, if not null.
  void Copy(BlobPart part, const SyncedMemory& from, std::size_t from_first, const Stream* on,
            const Site& site);

  void Commit() noexcept;

  /// Gives both the labels of a blob of this name, or neither; those that are null are left out.
  static void SetLabels(const MemoryPtr& data, const MemoryPtr& diff, const std::string& name);

 private:
  struct Change {
    Storage storage;
    std::size_t size;   ///< of the memory, to go back to
    std::size_t keep;   ///< bytes of the memory that survive the change, from its first one on
    MemoryPtr fresh{};  ///< to take the memory's place

    SyncedMemory& target() const noexcept {
      SyncedMemory* const made = fresh.get();
      return made != nullptr ? *made : *static_cast<const std::shared_ptr<SyncedMemory>&>(storage.memory);
    }
    std::size_t first() const noexcept { return fresh != nullptr ? 0 : storage.first; }
    /// No element beyond the blob's is anybody's.
    bool sole() const noexcept { return fresh != nullptr || storage.memory.use_count() == 1; }
  };
  Change& Grown(BlobPart part);

  std::array<Change, 2> changes_;
  const Site& site_;
  const std::size_t after_;
  bool committed_ = false;
};

/// What a blob of this name calls its data, and its diff.
std::string LabelOf(const std::string& name, BlobPart part);

}  // namespace ferry::detail
