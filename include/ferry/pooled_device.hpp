// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "ferry/forwarding_device.hpp"
#include "ferry/stream.hpp"

namespace ferry {

/// Keeps what is freed, and hands it out again without a call of the device below. Sizes are rounded up: to
/// multiples of 256 bytes, and above 2 KiB by at most one eighth (size classes as in jemalloc).
///
/// A stream gets blocks that were freed on it, and needs no wait for them. Only if there is none, it gets one
/// of another stream, and waits for the work that is queued there by then; the host never waits. The time for
/// both grows with the number of streams that have blocks of this size to spare, not with the number of
/// blocks. Where memory runs out, Allocate gives back all that is kept, waits until it is back, and tries
/// once more; last with the very size that was asked for, so that nothing is refused that fits.
class PooledDevice final : public FullForwardingDevice {
 public:
  /// Throws std::invalid_argument for null.
  explicit PooledDevice(std::unique_ptr<Device> next);
  ~PooledDevice() override;

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override;
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override;
  void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
               std::span<const StreamHandle> users) noexcept override;
  /// Gives back all that it keeps, waits until that is done, and trims the device below. Throws DeviceError.
  void Trim() override;
  StreamHandle CreateStream() override;
  void DestroyStream(StreamHandle stream) noexcept override;

 private:
  struct Block {
    void* ptr;
    std::shared_ptr<const Event> idle;  ///< a point after all work that uses it, where its stream may be gone
  };
  /// Blocks freed on one stream; on kNone, those that have a point or that no stream orders.
  struct Shelf {
    StreamHandle on;
    std::vector<Block> blocks;
  };
  struct SizeClass {
    std::size_t index;
    std::size_t bytes;
  };

  static constexpr std::size_t kKinds = 3;
  static constexpr std::size_t kClasses = std::size_t{8} * 41;
  static constexpr std::size_t kLargest = std::size_t{1} << 51;  // in bytes; more is not kept

  static SizeClass ClassOf(std::size_t bytes) noexcept;
  std::vector<Shelf>& ShelvesOf(MemoryKind kind, SizeClass size) noexcept {
    return free_[static_cast<std::size_t>(kind)][size.index];
  }
  struct Taken {
    Block block;
    StreamHandle from;
  };
  struct Notes;
  bool SeesEndOf(StreamHandle stream) const noexcept;
  static std::vector<Shelf>::iterator Find(std::vector<Shelf>& shelves, StreamHandle on);
  bool Shelve(MemoryKind kind, SizeClass size, const Block& block, StreamHandle on) noexcept;
  std::optional<Taken> Take(MemoryKind kind, SizeClass size, StreamHandle on);
  bool OrderBefore(StreamHandle on, const Taken& taken) noexcept;
  void* AllocateExactly(MemoryKind kind, std::size_t bytes, StreamHandle on);
  void Keep(MemoryKind kind, SizeClass size, const Block& block, StreamHandle on) noexcept;
  bool Hold(StreamHandle stream) noexcept;
  void LetGo(StreamHandle stream) noexcept;
  void EndStream(StreamHandle stream) noexcept;
  std::vector<Block> TakeShelf(MemoryKind kind, SizeClass size, StreamHandle on) noexcept;
  std::optional<Shelf> TakeAnyShelf(MemoryKind kind, SizeClass size) noexcept;
  void GiveBackAll() noexcept;
  void GiveBack(MemoryKind kind, SizeClass size, std::span<const Block> blocks, StreamHandle on) noexcept;
  void GiveBackAfter(const Event& idle, MemoryKind kind, SizeClass size, void* ptr) noexcept;

  std::mutex mutex_;  ///< guards what follows; open while the next device is at work
  std::array<std::array<std::vector<Shelf>, kClasses>, kKinds> free_;
  std::unique_ptr<Notes> notes_;
  std::mutex trimming_;  ///< who finds no memory waits until a Trim on its way has given back
};

}  // namespace ferry
