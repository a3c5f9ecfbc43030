// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/pooled_device.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "ferry/error.hpp"

namespace ferry {

PooledDevice::~PooledDevice() { GiveBackAll(); }

void* PooledDevice::Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  if (bytes > kLargest) return next().Allocate(kind, bytes, on);
  const SizeClass size = ClassOf(bytes);
  if (const auto block = Take(kind, size)) {
    if (block->idle) {
      try {
        next().StreamWait(on, *block->idle);
      } catch (...) {
        Keep(kind, size, *block);
        throw;
      }
      next().Release(*block->idle);
    }
    return block->ptr;
  }
  try {
    return next().Allocate(kind, size.bytes, on);
  } catch (const OutOfMemory&) {
    Trim();
  }
  try {
    return next().Allocate(kind, size.bytes, on);
  } catch (const OutOfMemory&) {
    throw OutOfMemory(properties().backend + ":" + std::to_string(properties().index), bytes);
  }
}

void PooledDevice::Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept {
  if (bytes > kLargest) return next().Deallocate(kind, ptr, bytes, on);
  const SizeClass size = ClassOf(bytes);
  Block block{ptr, std::nullopt};
  if (kind == MemoryKind::kDevice) {
    try {
      block.idle = next().Record(on);  // now: the stream may be gone when the block is wanted again
    } catch (...) {
      return next().Deallocate(kind, ptr, size.bytes, on);
    }
  }
  Keep(kind, size, block);
}

void PooledDevice::Trim() {
  const std::lock_guard lock(trimming_);
  GiveBackAll();
  next().Synchronize(properties().main_stream);
}

/// Up to eight classes for each power of two, all multiples of 256 bytes.
PooledDevice::SizeClass PooledDevice::ClassOf(std::size_t bytes) noexcept {
  constexpr int kGranule = 8;  // log2 of 256
  const std::size_t last = bytes - 1;
  const int exponent = std::max(kGranule, static_cast<int>(std::bit_width(last)) - 4);
  const std::size_t step = last >> exponent;  // 8 to 15, or less below 2 KiB
  return {8 * static_cast<std::size_t>(exponent - kGranule) + step, (step + 1) << exponent};
}

std::optional<PooledDevice::Block> PooledDevice::Take(MemoryKind kind, SizeClass size) {
  const std::lock_guard lock(mutex_);
  std::vector<Block>& blocks = ListOf(kind, size);
  if (blocks.empty()) return std::nullopt;
  const Block block = blocks.back();
  blocks.pop_back();
  return block;
}

void PooledDevice::Keep(MemoryKind kind, SizeClass size, const Block& block) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    ListOf(kind, size).push_back(block);
  } catch (const std::bad_alloc&) {
    GiveBack(kind, size, block);
  }
}

void PooledDevice::GiveBackAll() noexcept {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    for (SizeClass size = ClassOf(1); size.index < kClasses; size = ClassOf(size.bytes + 1)) {
      std::vector<Block> blocks;
      {
        const std::lock_guard lock(mutex_);
        blocks.swap(ListOf(kind, size));
      }
      for (const Block& block : blocks) GiveBack(kind, size, block);
    }
  }
}

/// In the order of the main stream, the one that is always there.
void PooledDevice::GiveBack(MemoryKind kind, SizeClass size, const Block& block) noexcept {
  const StreamHandle main = properties().main_stream;
  if (block.idle) {
    try {
      next().StreamWait(main, *block.idle);
    } catch (...) {
      try {
        next().HostWait(*block.idle);
      } catch (...) {  // the driver is gone, and its work with it
      }
    }
    next().Release(*block.idle);
  }
  next().Deallocate(kind, block.ptr, size.bytes, main);
}

}  // namespace ferry
