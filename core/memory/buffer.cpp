// SPDX-License-Identifier: BSD-2-Clause
// The buffers of a memory: what to wait for before an access, and how they get their bytes and give them
// back.
#include "ferry/detail/buffer.hpp"

#include <cassert>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/memory/arrival.hpp"
#include "core/memory/guard.hpp"
#include "core/memory/observers.hpp"
#include "core/memory/records.hpp"
#include "core/memory/runs.hpp"
#include "ferry/detail/kernel_guard.hpp"
#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

Waits For(Buffer& buffer, Bytes bytes, Access access, std::vector<UseList::Awaited> awaited) {
  if (awaited.empty()) return std::nullopt;
  return Wait{&buffer, bytes, access, std::move(awaited)};
}

}  // namespace

std::byte* Buffer::Reach(Bytes bytes) const noexcept {
  return guarded ? HostGuard::Reach(At(bytes)) : At(bytes);
}

Waits Buffer::BeforeHost(Bytes bytes, Access access, Dying& dying) {
  return For(*this, bytes, access, uses.BeforeHost(bytes, access, dying));
}
Waits Buffer::AfterReaders(Bytes bytes, Dying& dying) {
  return For(*this, bytes, Access::kReadWrite, uses.Readers(bytes, dying));
}
Waits Buffer::Before(const Stream& on, Bytes bytes, Access access, Dying& dying) {
  return For(*this, bytes, access, uses.Foreign(bytes, access, on, dying));
}

}  // namespace ferry::detail

namespace ferry {

using detail::Arrival;
using detail::Bytes;
using detail::Dying;
using detail::kHost;

/// Device memory is in the order of `on`; null, for what the host accesses, is the main stream. The point
/// after what is queued there by now is recorded at once where only some bytes are accessed: else whoever
/// uses others would wait for that access, too.
void SyncedMemory::Allocate(Buffer& buffer, Arrival& arrival, const Stream* on) const {
  if (buffer.ptr != nullptr) return;
  arrival.allocating = &buffer;
  Dying dying;
  const bool ordered = buffer.kind == MemoryKind::kDevice;
  if (ordered) buffer.uses.Prepare({}, Access::kOverwrite, *on, dying);
  auto live = detail::LiveList::Enter(*buffer.device, buffer.kind, capacity_, label_.get(), arrival.site);
  const detail::Stopwatch watch;
  if (buffer.kind == MemoryKind::kPinnedHost && detail::HostGuard::On() &&
      SharersOf(kHost) == detail::Only(kHost))
    buffer.ptr = detail::HostGuard::Make(*this, capacity_);
  buffer.guarded = buffer.ptr != nullptr;
  if (!buffer.guarded)
    buffer.ptr = buffer.device->Allocate(
        buffer.kind, capacity_, on != nullptr ? on->handle() : buffer.device->properties().main_stream);
  if (!buffer.guarded && detail::HostGuard::On() && buffer.kind != MemoryKind::kDevice &&
      (!buffer.device->properties().kernels_at_once ||
       AnyBuffer([](const Buffer& one) { return one.kind == MemoryKind::kDevice; })))
    detail::HostGuard::NoteUnguarded(*this, SharersOf(kHost) != detail::Only(kHost));
  buffer.live = std::move(live);
  detail::KernelGuard::Begin(*this, buffer);
  if (detail::Watched()) detail::Records::TellBlock(*this, buffer, true, watch.Read(), &arrival.site);
  if (!ordered) return;
  const auto made = buffer.uses.Note({}, Access::kOverwrite, *on, dying);
  if (arrival.bytes == Bytes{}) return;
  try {
    buffer.uses.SetPoint({}, made, detail::PointOn(*on));
  } catch (const std::exception&) {  // later then
  }
}

/// Device memory goes back in a stream's order; memory that the host may touch next, when nothing uses it.
/// Returns how long the host waited for that, where somebody watches.
std::int64_t SyncedMemory::GiveBack(Buffer& buffer, const Site* evicted, std::int64_t waited_ns) noexcept {
  if (buffer.ptr == nullptr) return assert(buffer.uses.empty()), 0;
  detail::KernelGuard::End(buffer.ptr);
  if (detail::Watched()) detail::Records::TellBlock(*this, buffer, false, waited_ns, evicted);
  Stream on = Stream::Main(*buffer.device);
  if (!buffer.adopted() && !buffer.uses.empty())
    if (auto last = buffer.uses.Last(); last && &last->device() == buffer.device) on = std::move(*last);
  const bool host_waits = buffer.kind != MemoryKind::kDevice && !buffer.uses.empty();
  const detail::Stopwatch watch;
  const bool ended =
      buffer.kind == MemoryKind::kDevice ? buffer.uses.TryEndBefore(on) : buffer.uses.TryEndBeforeHost();
  const std::int64_t waited = host_waits ? watch.Read() : 0;
  if (!ended) return Abandon(buffer, on), waited;
  if (buffer.guarded)
    detail::HostGuard::GiveBack(*this, buffer.ptr, evicted);
  else if (buffer.live != nullptr)
    buffer.device->Deallocate(buffer.kind, buffer.ptr, buffer.allocated(), on.handle());
  if (buffer.deleter) (*buffer.deleter)(buffer.ptr);
  buffer.deleter.reset();
  buffer.constant = buffer.guarded = false;
  buffer.live.reset();
  buffer.ptr = nullptr;
  return waited;
}

/// For bytes that streams may still use which nobody could wait for, as they are under graph capture, or
/// their driver failed: the device knows when its own are free. Nobody knows that of adopted ones, so that
/// their deleter is not called.
void SyncedMemory::Abandon(Buffer& buffer, const Stream& on) noexcept try {
  if (buffer.adopted()) {
    Log(LogLevel::kError,
        Named() +
            " ends while a stream that is under graph capture, or whose driver failed, may still use the " +
            std::to_string(size_) + " bytes that it was given" +
            (buffer.deleter ? ": their deleter is not called" : ""));
    return;
  }
  if (buffer.guarded) return detail::HostGuard::Lose(*this, buffer.ptr);
  auto users = buffer.uses.StreamsOf(*buffer.device);
  if (!users) {  // a device knows nothing of another one's streams
    Log(LogLevel::kError, Named() +
                              " ends while another device's stream, which is under graph capture or whose "
                              "driver failed, may still read " +
                              std::to_string(buffer.allocated()) + " bytes: they are not given back");
    return;
  }
  users->insert(users->begin(), on.handle());
  buffer.device->Abandon(buffer.kind, buffer.ptr, buffer.allocated(), *users);
} catch (const std::bad_alloc&) {  // the block is lost, which harms nobody else
}

}  // namespace ferry
