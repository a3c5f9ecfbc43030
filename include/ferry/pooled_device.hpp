// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "ferry/forwarding_device.hpp"

namespace ferry {

/// Keeps what is freed, and hands it out again in constant time. Sizes are rounded up: to multiples of 256
/// bytes, and above 2 KiB by at most one eighth (size classes as in jemalloc). A block that was freed on one
/// stream makes the next owner's stream wait for what came before, never the host. Where memory runs out,
/// Allocate gives back all that is kept, waits until it is back, and tries once more.
class PooledDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  ~PooledDevice() override;

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override;
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override;

  /// Gives back all that it keeps, and waits until that is done. Throws DeviceError.
  void Trim();

 private:
  struct Block {
    void* ptr;
    std::optional<EventHandle> idle;  ///< kDevice: a point after all work that uses it
  };
  struct SizeClass {
    std::size_t index;
    std::size_t bytes;
  };

  static constexpr std::size_t kKinds = 3;
  static constexpr std::size_t kClasses = std::size_t{8} * 41;
  static constexpr std::size_t kLargest = std::size_t{1} << 51;  // in bytes; more is not kept

  static SizeClass ClassOf(std::size_t bytes) noexcept;
  std::vector<Block>& ListOf(MemoryKind kind, SizeClass size) noexcept {
    return free_[static_cast<std::size_t>(kind)][size.index];
  }
  std::optional<Block> Take(MemoryKind kind, SizeClass size);
  void Keep(MemoryKind kind, SizeClass size, const Block& block) noexcept;
  void GiveBackAll() noexcept;
  void GiveBack(MemoryKind kind, SizeClass size, const Block& block) noexcept;

  std::mutex mutex_;  ///< guards the lists; open while the next device is at work
  std::array<std::array<std::vector<Block>, kClasses>, kKinds> free_;
  std::mutex trimming_;  ///< who finds no memory waits for a Trim on its way
};

}  // namespace ferry
