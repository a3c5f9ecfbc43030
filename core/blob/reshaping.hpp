// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ferry/coherence.hpp"
#include "ferry/device.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry::detail {

/// A blob's two storages on their way to another size and to other bytes: all that can fail first, then
/// Commit. Destroyed without it, it has left no trace, except where a caller has written.
class Reshaping {
 public:
  using Storage = std::shared_ptr<SyncedMemory>;
  enum class Part : std::uint8_t { kData, kDiff };
  enum class Room : std::uint8_t { kEnough, kExact };

  /// Makes new storage where there is none, where the capacity is below `after`, and with kExact also where
  /// it is above and nobody shares it. `before` and `after` are the bytes that the blob uses.
  Reshaping(Storage& data, Storage& diff, std::size_t before, std::size_t after, Device& device,
            Room room = Room::kEnough);
  ~Reshaping();
  Reshaping(const Reshaping&) = delete;
  Reshaping& operator=(const Reshaping&) = delete;

  /// The first `after` bytes as they will be, for a host that writes them all. With kReadWrite the old ones
  /// survive if a later step throws.
  void* Write(Part part, Access access);
  /// They become those of `from`, where these are.
  void Copy(Part part, const SyncedMemory& from);

  void Commit() noexcept;

 private:
  struct Change {
    Storage& storage;
    std::size_t size;  ///< of the storage, to go back to
    std::size_t keep;  ///< bytes that survive the change
    Storage fresh{};   ///< to take the storage's place

    SyncedMemory& target() const noexcept { return fresh != nullptr ? *fresh : *storage; }
    /// No element beyond the blob's is anybody's.
    bool sole() const noexcept { return fresh != nullptr || storage.use_count() == 1; }
  };

  std::array<Change, 2> changes_;
  const std::size_t after_;
  bool committed_ = false;
};

}  // namespace ferry::detail
