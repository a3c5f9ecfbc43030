// SPDX-License-Identifier: BSD-2-Clause
// Accesses that find their bytes in place. Three ways, the fastest first: the header's, which looks at one
// word; that of the words, for parts of an array that is in place as a whole; and that of the maps, under the
// lock.
#include <mutex>

#include "core/memory/arrival.hpp"
#include "core/memory/guard.hpp"
#include "core/memory/records.hpp"
#include "core/memory/writers.hpp"
#include "core/watched.hpp"

namespace ferry {

using detail::Bytes;
using detail::kDevice;
using detail::kHost;
using detail::StreamId;

void* SyncedMemory::WholeInPlace(Access access, const Stream* on) const noexcept {
  const StreamId id = on == nullptr ? StreamId::kHost : on->id_;
  if (access == Access::kRead) {
    if (on == nullptr) return cpu_ready_.load(std::memory_order_acquire);
    return Ready(id) ? gpu_.ptr : nullptr;
  }
  if (sole_.load(std::memory_order_acquire) != id) return nullptr;
  return on == nullptr ? BufferOf(kHost).ptr : gpu_.ptr;
}

void* SyncedMemory::InPlace(Access access, const Stream* on, Bytes bytes) const noexcept {
  if (void* const ptr = WholeInPlace(access, on)) return static_cast<std::byte*>(ptr) + bytes.first;
  return PartInPlace(access, on, bytes);
}
void* SyncedMemory::PartInPlace(Access access, const Stream* on, Bytes bytes) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto space = on == nullptr ? kHost : FindSpace(on->device());
  if (!space) return nullptr;
  const Buffer* const here = Placed(*space, access, on, bytes);
  if (here == nullptr) return nullptr;
  if (access != Access::kRead && detail::Watched() && detail::Records::WantsWrite(*this, bytes))
    return nullptr;
  detail::HostGuard::Refresh(*this, bytes);
  if (writers_ != nullptr) [[unlikely]] {
    if (access != Access::kOverwrite) detail::Records::NoteUse(*this, bytes, *here);
    if (access != Access::kRead) detail::Records::NoteLoss(*this, bytes);
  }
  Publish(bytes, access, *space, on);
  return here->At(bytes);
}

/// What the words say after an access.
void SyncedMemory::Publish(Bytes bytes, Access access, unsigned space, const Stream* on) const noexcept {
  const bool host = space == kHost, reads = access == Access::kRead;
  const bool whole = bytes == Bytes{}, ours = space == kDevice;
  const StreamId id = host || !ours ? StreamId::kNone : on->id();
  if (!reads) {
    if (!host) cpu_ready_.store(nullptr, std::memory_order_release);
    for (auto& ready : gpu_ready_)
      if (ready.load(std::memory_order_relaxed) != id)
        ready.store(StreamId::kNone, std::memory_order_release);
  }
  if (!whole) return;
  if (host) cpu_ready_.store(BufferOf(kHost).ptr, std::memory_order_release);
  if (ours && gpu_ready_[0].load(std::memory_order_relaxed) != id) {
    gpu_ready_[1].store(gpu_ready_[0].load(std::memory_order_relaxed), std::memory_order_release);
    gpu_ready_[0].store(id, std::memory_order_release);
  }
  if (!reads) sole_.store(host ? StreamId::kHost : id, std::memory_order_release);
}

void SyncedMemory::ForgetReady() const noexcept {
  sole_ = StreamId::kNone;
  for (auto& ready : gpu_ready_) ready = StreamId::kNone;
}

}  // namespace ferry
