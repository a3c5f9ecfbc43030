// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/pooled_device.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/device/trim.hpp"
#include "ferry/detail/stream_note.hpp"
#include "ferry/error.hpp"

namespace ferry {

struct PooledDevice::Notes {
  struct OwnStream {
    std::size_t users = 0;  ///< calls that have taken blocks of its shelf and still order by it
    bool ended = false;     ///< the last of them destroys it
  };
  std::map<StreamHandle, OwnStream> own;  ///< streams whose end we see, the main one apart
  std::set<void*> exact;                  ///< blocks that are not of their class' size
};

PooledDevice::PooledDevice(std::unique_ptr<Device> next)
    : FullForwardingDevice(std::move(next)), notes_(std::make_unique<Notes>()) {}

PooledDevice::~PooledDevice() { GiveBackAll(); }

void* PooledDevice::Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  if (bytes > kLargest) return next().Allocate(kind, bytes, on);
  const SizeClass size = ClassOf(bytes);
  const StreamHandle shelf = kind == MemoryKind::kDevice ? on : StreamHandle::kNone;
  if (auto taken = Take(kind, size, shelf)) {
    const bool ordered = OrderBefore(on, *taken);
    if (!ordered) Keep(kind, size, taken->block, taken->from);
    if (taken->from != shelf) LetGo(taken->from);
    if (ordered) return taken->block.ptr;
  }
  try {
    return next().Allocate(kind, size.bytes, on);
  } catch (const OutOfMemory&) {
    detail::TrimAsFarAsPossible(*this);
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
    exact = notes_->exact.erase(ptr) != 0;
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
    rounded = notes_->exact.erase(ptr) == 0;
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

StreamHandle PooledDevice::CreateStream() {
  const StreamHandle stream = next().CreateStream();
  try {
    const std::lock_guard lock(mutex_);
    notes_->own.try_emplace(stream);
  } catch (...) {
    next().DestroyStream(stream);
    throw;
  }
  return stream;
}

void PooledDevice::DestroyStream(StreamHandle stream) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (const auto own = notes_->own.find(stream); own != notes_->own.end()) {
      own->second.ended = true;
      if (own->second.users != 0) return;
    }
  }
  EndStream(stream);
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
  return stream == properties().main_stream || notes_->own.contains(stream);
}

/// Whether blocks of the stream may be taken, which is then noted until LetGo. Needs the lock.
bool PooledDevice::Hold(StreamHandle stream) noexcept {
  const auto own = notes_->own.find(stream);
  if (own == notes_->own.end()) return true;
  if (own->second.ended) return false;
  ++own->second.users;
  return true;
}

void PooledDevice::LetGo(StreamHandle stream) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto own = notes_->own.find(stream);
    if (own == notes_->own.end() || --own->second.users != 0 || !own->second.ended) return;
  }
  EndStream(stream);
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
  const auto usable = [&](const Shelf& shelf) {
    return !shelf.blocks.empty() && (shelf.on == on || Hold(shelf.on));
  };
  auto shelf = Find(shelves, on);
  if (shelf == shelves.end() || !usable(*shelf)) shelf = std::find_if(shelves.begin(), shelves.end(), usable);
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
    notes_->exact.insert(ptr);
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
  GiveBack(kind, size, {&block, 1}, on);
}

/// Nobody uses the stream any more. One point stands for all that it has done with its blocks.
void PooledDevice::EndStream(StreamHandle stream) noexcept {
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
  {
    const std::lock_guard lock(mutex_);
    notes_->own.erase(stream);
  }
  next().DestroyStream(stream);
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

/// Any that holds blocks; the stream is held, too.
std::optional<PooledDevice::Shelf> PooledDevice::TakeAnyShelf(MemoryKind kind, SizeClass size) noexcept {
  const std::lock_guard lock(mutex_);
  std::vector<Shelf>& shelves = ShelvesOf(kind, size);
  const auto shelf = std::find_if(shelves.begin(), shelves.end(), [&](const Shelf& candidate) {
    return !candidate.blocks.empty() && Hold(candidate.on);
  });
  if (shelf == shelves.end()) return std::nullopt;
  Shelf taken = std::move(*shelf);
  shelves.erase(shelf);
  return taken;
}

void PooledDevice::GiveBackAll() noexcept {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    for (SizeClass size = ClassOf(1); size.index < kClasses; size = ClassOf(size.bytes + 1)) {
      while (const auto shelf = TakeAnyShelf(kind, size)) {
        GiveBack(kind, size, shelf->blocks, shelf->on);
        LetGo(shelf->on);
      }
    }
  }
}

/// In the order of the main stream, which is always there; or of the blocks' own one, while that is under
/// graph capture.
void PooledDevice::GiveBack(MemoryKind kind, SizeClass size, std::span<const Block> blocks,
                            StreamHandle on) noexcept {
  const StreamHandle main = properties().main_stream;
  const bool ordered = OrderBefore(main, {{nullptr, nullptr}, on});
  for (const Block& block : blocks) {
    if (!block.idle || OrderBefore(main, {block, on}))
      next().Deallocate(kind, block.ptr, size.bytes, ordered ? main : on);
    else
      GiveBackAfter(*block.idle, kind, size, block.ptr);
  }
}

/// By way of a stream that nobody captures. The host waits last of all: a borrowed stream that has made the
/// point may be gone, and a vendor's wait of the host may need it.
void PooledDevice::GiveBackAfter(const Event& idle, MemoryKind kind, SizeClass size, void* ptr) noexcept {
  std::optional<Stream> own;
  try {
    own.emplace(next());
    detail::StreamWait(*own, idle);
    return next().Deallocate(kind, ptr, size.bytes, own->handle());
  } catch (...) {
  }
  try {
    detail::HostWait(idle);
  } catch (...) {  // the driver is gone, and its work with it
  }
  next().Deallocate(kind, ptr, size.bytes, properties().main_stream);
}

}  // namespace ferry
