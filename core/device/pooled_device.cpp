// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/pooled_device.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "ferry/error.hpp"

namespace ferry {

PooledDevice::~PooledDevice() { GiveBackAll(); }

void* PooledDevice::Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  if (bytes > kLargest) return next().Allocate(kind, bytes, on);
  const SizeClass size = ClassOf(bytes);
  const StreamHandle shelf = kind == MemoryKind::kDevice ? on : StreamHandle::kNone;
  if (auto taken = Take(kind, size, shelf)) {
    if (OrderBefore(on, *taken)) return taken->block.ptr;
    Keep(kind, size, taken->block, taken->from);
  }
  try {
    return next().Allocate(kind, size.bytes, on);
  } catch (const OutOfMemory&) {
    TrimAsFarAsPossible();
  }
  try {
    return next().Allocate(kind, size.bytes, on);
  } catch (const OutOfMemory&) {
    return AllocateExactly(kind, bytes, on);
  }
}

void PooledDevice::Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept {
  if (bytes > kLargest) return next().Deallocate(kind, ptr, bytes, on);
  const SizeClass size = ClassOf(bytes);
  bool exact = false;
  {
    const std::lock_guard lock(mutex_);
    exact = exact_.erase(ptr) != 0;
    const bool ordered = kind == MemoryKind::kDevice && SeesEndOf(on);
    if (!exact && (ordered || kind != MemoryKind::kDevice) &&
        Shelve(kind, size, {ptr, nullptr}, ordered ? on : StreamHandle::kNone))
      return;
  }
  try {
    if (exact || kind != MemoryKind::kDevice)
      return next().Deallocate(kind, ptr, exact ? bytes : size.bytes, on);
    // Now: the stream may be gone when the block is wanted again.
    Keep(kind, size, {ptr, std::make_shared<Event>(Stream::Borrow(next(), on))}, StreamHandle::kNone);
  } catch (...) {
    next().Deallocate(kind, ptr, size.bytes, on);
  }
}

void PooledDevice::Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
                           std::span<const StreamHandle> users) noexcept {
  bool rounded = bytes <= kLargest;
  if (rounded) {
    const std::lock_guard lock(mutex_);
    rounded = exact_.erase(ptr) == 0;
  }
  next().Abandon(kind, ptr, rounded ? ClassOf(bytes).bytes : bytes, users);
}

void PooledDevice::Trim() {
  {
    const std::lock_guard lock(trimming_);
    GiveBackAll();
  }
  next().Synchronize(properties().main_stream);
  next().Trim();
}

/// While a capture keeps the main stream from being waited for, what has been given back may come later.
void PooledDevice::TrimAsFarAsPossible() try { Trim(); } catch (const StreamCaptureError&) {
}

StreamHandle PooledDevice::CreateStream() {
  const StreamHandle stream = next().CreateStream();
  try {
    const std::lock_guard lock(mutex_);
    own_.insert(stream);
  } catch (...) {
    next().DestroyStream(stream);
    throw;
  }
  return stream;
}

void PooledDevice::DestroyStream(StreamHandle stream) noexcept {
  LeaveStream(stream);
  next().DestroyStream(stream);
}

/// Up to eight classes for each power of two, all multiples of 256 bytes.
PooledDevice::SizeClass PooledDevice::ClassOf(std::size_t bytes) noexcept {
  constexpr int kGranule = 8;  // log2 of 256
  const std::size_t last = bytes - 1;
  const int exponent = std::max(kGranule, static_cast<int>(std::bit_width(last)) - 4);
  const std::size_t step = last >> exponent;  // 8 to 15, or less below 2 KiB
  return {8 * static_cast<std::size_t>(exponent - kGranule) + step, (step + 1) << exponent};
}

/// Needs the lock, as the two below.
bool PooledDevice::SeesEndOf(StreamHandle stream) const noexcept {
  return stream == properties().main_stream || own_.contains(stream);
}

std::vector<PooledDevice::Shelf>::iterator PooledDevice::Find(std::vector<Shelf>& shelves, StreamHandle on) {
  return std::find_if(shelves.begin(), shelves.end(), [&](const Shelf& shelf) { return shelf.on == on; });
}

/// False where there is no host memory for the note.
bool PooledDevice::Shelve(MemoryKind kind, SizeClass size, const Block& block, StreamHandle on) noexcept try {
  std::vector<Shelf>& shelves = ShelvesOf(kind, size);
  auto shelf = Find(shelves, on);
  if (shelf == shelves.end()) shelf = shelves.insert(shelves.end(), Shelf{on, {}});
  shelf->blocks.push_back(block);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

/// The newest block of the stream's own shelf, which is then the first one; else of another.
std::optional<PooledDevice::Taken> PooledDevice::Take(MemoryKind kind, SizeClass size, StreamHandle on) {
  const std::lock_guard lock(mutex_);
  std::vector<Shelf>& shelves = ShelvesOf(kind, size);
  const auto filled = [](const Shelf& shelf) { return !shelf.blocks.empty(); };
  auto shelf = Find(shelves, on);
  if (shelf == shelves.end() || !filled(*shelf)) shelf = std::find_if(shelves.begin(), shelves.end(), filled);
  if (shelf == shelves.end()) return std::nullopt;
  Taken taken{std::move(shelf->blocks.back()), shelf->on};
  shelf->blocks.pop_back();
  if (shelf != shelves.begin()) std::swap(*shelf, shelves.front());
  return taken;
}

/// False where that can't be now: one of the streams is under graph capture.
bool PooledDevice::OrderBefore(StreamHandle on, const Taken& taken) noexcept try {
  if (taken.block.idle)
    next().StreamWait(on, taken.block.idle->handle());
  else if (taken.from != StreamHandle::kNone && taken.from != on)
    next().Order({&taken.from, 1}, on);
  return true;
} catch (...) {
  return false;
}

void* PooledDevice::AllocateExactly(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  void* const ptr = next().Allocate(kind, bytes, on);
  if (ClassOf(bytes).bytes == bytes) return ptr;
  try {
    const std::lock_guard lock(mutex_);
    exact_.insert(ptr);
  } catch (...) {
    next().Deallocate(kind, ptr, bytes, on);
    throw;
  }
  return ptr;
}

void PooledDevice::Keep(MemoryKind kind, SizeClass size, const Block& block, StreamHandle on) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (Shelve(kind, size, block, on)) return;
  }
  GiveBack(kind, size, {on, {block}});
}

/// One point stands for all that the stream has done with its blocks.
void PooledDevice::LeaveStream(StreamHandle stream) noexcept {
  std::shared_ptr<const Event> idle;
  for (SizeClass size = ClassOf(1); size.index < kClasses; size = ClassOf(size.bytes + 1)) {
    for (const Block& block : TakeShelf(MemoryKind::kDevice, size, stream)) {
      try {
        if (idle == nullptr) idle = std::make_shared<Event>(Stream::Borrow(next(), stream));
        Keep(MemoryKind::kDevice, size, {block.ptr, idle}, StreamHandle::kNone);
      } catch (...) {
        next().Deallocate(MemoryKind::kDevice, block.ptr, size.bytes, stream);
      }
    }
  }
  const std::lock_guard lock(mutex_);
  own_.erase(stream);
}

std::vector<PooledDevice::Block> PooledDevice::TakeShelf(MemoryKind kind, SizeClass size,
                                                         StreamHandle on) noexcept {
  const std::lock_guard lock(mutex_);
  std::vector<Shelf>& shelves = ShelvesOf(kind, size);
  const auto shelf = Find(shelves, on);
  if (shelf == shelves.end()) return {};
  std::vector<Block> blocks = std::move(shelf->blocks);
  shelves.erase(shelf);
  return blocks;
}

void PooledDevice::GiveBackAll() noexcept {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    for (SizeClass size = ClassOf(1); size.index < kClasses; size = ClassOf(size.bytes + 1)) {
      std::vector<Shelf> shelves;
      {
        const std::lock_guard lock(mutex_);
        shelves.swap(ShelvesOf(kind, size));
      }
      for (const Shelf& shelf : shelves) GiveBack(kind, size, shelf);
    }
  }
}

/// In the order of the main stream, which is always there; or of the blocks' own one, while that is under
/// graph capture.
void PooledDevice::GiveBack(MemoryKind kind, SizeClass size, const Shelf& shelf) noexcept {
  const StreamHandle main = properties().main_stream;
  if (shelf.blocks.empty()) return;
  const bool ordered = OrderBefore(main, {{nullptr, nullptr}, shelf.on});
  for (const Block& block : shelf.blocks) {
    if (block.idle && !OrderBefore(main, {block, shelf.on})) HostWait(*block.idle);
    next().Deallocate(kind, block.ptr, size.bytes, ordered ? main : shelf.on);
  }
}

void PooledDevice::HostWait(const Event& idle) noexcept try {
  idle.HostWait();
} catch (...) {  // the driver is gone, and its work with it
}

}  // namespace ferry
