// SPDX-License-Identifier: BSD-2-Clause
// Bytes of one memory become those of another, or of another part of it.
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>

#include "core/memory/call.hpp"
#include "core/memory/guard.hpp"
#include "core/memory/records.hpp"
#include "core/memory/told_call.hpp"
#include "core/memory/writers.hpp"
#include "ferry/detail/in_place.hpp"
#include "ferry/error.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {

using detail::Arrival;
using detail::Bytes;
using detail::Call;
using detail::Dying;
using detail::kHost;
using detail::Only;
using detail::ToldCall;

void SyncedMemory::Assign(const SyncedMemory& source, std::size_t size, Rest rest, const Site& site) {
  RequireRoom(size, "Assign");
  RequireMutable({}, "Assign");
  if (size > source.size_)
    throw std::length_error("SyncedMemory::Assign: " + std::to_string(size) + " bytes of a source that has " +
                            std::to_string(source.size_) + "; its size is the most");
  if (rest == Rest::kKept && size < size_) return Assign({0, size}, source, 0, nullptr, site);
  const Head head = source.head({0, size});
  if (size == 0 || head == UNINITIALIZED) {
    Resize(0);
    return Resize(size);
  }
  Take({}, size, source, {0, size}, head, nullptr, site);
}

void SyncedMemory::Assign(ByteRange to, const SyncedMemory& source, std::size_t from, const Stream* on,
                          const Site& site) {
  const auto within = detail::Within(size_, to);
  if (!within) FailRange(to, "Assign");
  const Bytes here = *within;
  const std::size_t size = CountOf(here);
  const ByteRange there{from, size};
  if (from > source.size_ || size > source.size_ - from) source.FailRange(there, "Assign");
  if (size == 0) return;
  if (&source == this) {
    if (here.first == from) return;
    RequireApart(here, there);
  }
  if (on == nullptr && !detail::Watched()) {
    // Both on the host alone, where nobody waits, nothing changes and nobody is told. Inline, which
    // WholeInPlace is not.
    const auto sole = [](const SyncedMemory& memory) {
      return detail::InPlace(memory).OnCpu<Access::kOverwrite>([]() -> void* { return nullptr; });
    };
    const void* const theirs = sole(source);
    void* const ours = theirs != nullptr ? sole(*this) : nullptr;
    if (ours != nullptr) {
      std::memcpy(static_cast<std::byte*>(ours) + here.first, static_cast<const std::byte*>(theirs) + from,
                  size);
      return;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    RequireMutable(here, "Assign");
  }
  const Head head = source.head(there);
  if (head == UNINITIALIZED) return Drop(here);
  Take(here, size, source, there, head, on, site);
}

void SyncedMemory::RequireApart(Bytes to, ByteRange from) const {
  if (to.first + from.bytes <= from.first || from.first + from.bytes <= to.first) return;
  const auto text = [&](std::size_t first) {
    return std::to_string(first) + " to " + std::to_string(first + from.bytes);
  };
  throw std::invalid_argument("SyncedMemory::Assign: bytes " + text(from.first) + " and " + text(to.first) +
                              " of " + Named() + " of " + std::to_string(size_) +
                              " overlap in part; they must be identical or disjoint");
}

/// Bytes that nobody holds read as zeros.
void SyncedMemory::Drop(Bytes bytes) {
  const std::lock_guard lock(mutex_);
  holders_.Isolate(bytes);
  ChangeHolders(bytes, [](Spaces) { return Spaces{0}; });
  if (writers_ != nullptr) detail::Records::NoteZeros(*this, bytes);
  holders_.Join(bytes, [](Spaces left, Spaces right) { return left == right; });
  cpu_ready_ = nullptr;
  ForgetReady();
  detail::HostGuard::Refresh(*this, bytes);
}

bool SyncedMemory::LendsHostBytesTo(Device& device) const {
  const unsigned space = SpaceOf(device);
  const std::lock_guard lock(mutex_);
  const Buffer& shared = BufferOf(space);
  return &shared == &BufferOf(kHost) &&
         (detail::PageableFor(shared, device) || shared.kind == MemoryKind::kPinnedHost);
}

/// `head` is that of `wanted`. Of bytes that go to the end, `size` is where that is then.
void SyncedMemory::Take(Bytes to, std::size_t size, const SyncedMemory& source, ByteRange wanted, Head head,
                        const Stream* on, const Site& site) {
  const Stream stream = on != nullptr ? *on : Stream::Main(device_);
  const bool there = on != nullptr || (&source.device_ == &device_ && ferry::Holds(head, Side::kGpu));
  Device& device = stream.device();
  const bool on_gpu = there && !source.LendsHostBytesTo(device) && !LendsHostBytesTo(device);
  struct Kept {  // no handler that is asked for memory releases it
    explicit Kept(const SyncedMemory& of) : memory(of) {
      const std::lock_guard lock(memory.mutex_);
      ++memory.busy_;
    }
    ~Kept() {
      const std::lock_guard lock(memory.mutex_);
      --memory.busy_;
    }
    const SyncedMemory& memory;
  } const kept{source};
  const Stream* const queue = on_gpu ? &stream : nullptr;
  const CallRecord::Operand operands[] = {{&source, wanted, Access::kRead},
                                          {this, {to.first, size}, Access::kOverwrite}};
  ToldCall told(ToldCall::Kind::kCopy, queue, operands, site);
  const void* const bytes = on_gpu ? source.gpu_data(wanted, stream, site) : source.cpu_data(wanted, site);
  Arrival target(*this, to, Access::kOverwrite, queue, site);
  target.empty = false;
  target.in_place = InPlace(Access::kOverwrite, queue, to) != nullptr;
  Call::Perform({&target, 1}, [&] {
    told.Start();
    if (on_gpu)
      CopyOver(target, bytes, size);
    else
      std::memcpy(BufferOf(kHost).Reach(to), bytes, size);
    if (to.last != Bytes::kEnd) return;
    if (to.first + size > size_ && writers_ != nullptr)
      detail::Records::NoteZeros(*this, {size_, Bytes::kEnd});
    size_ = to.first + size;
  });
}

/// If the copy fails, nothing is in place here any more, and these bytes are gone where others have them too.
void SyncedMemory::CopyOver(const Arrival& target, const void* from, std::size_t size) const try {
  Buffer& here = BufferOf(target.space);
  const Spaces only = Only(target.space);
  Dying dying;
  here.uses.Note(target.bytes, Access::kOverwrite, *target.on, dying);
  ForgetReady();
  if (&here == &BufferOf(kHost))
    cpu_ready_ = nullptr;
  else
    ChangeHolders(target.bytes, [only](Spaces holders) { return holders == only ? only : holders & ~only; });
  target.on->device().Copy(CopyKind::kDeviceToDevice, here.At(target.bytes), from, size, target.on->handle());
} catch (const DeviceError&) {
  RethrowNamed();
}

}  // namespace ferry
