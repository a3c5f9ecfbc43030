// SPDX-License-Identifier: BSD-2-Clause
// Out of line: of functions in the header, g++ would guess at each call of a Device that they are called, and
// compare first.
#include "ferry/forwarding_device.hpp"

#include <stdexcept>
#include <utility>

namespace ferry {

ForwardingDevice::ForwardingDevice(std::unique_ptr<Device> next) : next_(std::move(next)) {
  if (next_ == nullptr)
    throw std::invalid_argument(
        "ferry::ForwardingDevice: the pointer is null; give a device to pass calls on to");
}

const DeviceProperties& ForwardingDevice::properties() const noexcept { return next_->properties(); }
void* ForwardingDevice::Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  return next_->Allocate(kind, bytes, on);
}
void ForwardingDevice::Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept {
  next_->Deallocate(kind, ptr, bytes, on);
}
void ForwardingDevice::Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
                               std::span<const StreamHandle> users) noexcept {
  next_->Abandon(kind, ptr, bytes, users);
}
void ForwardingDevice::Trim() { next_->Trim(); }
void ForwardingDevice::Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) {
  next_->Copy(kind, dst, src, bytes, on);
}
void ForwardingDevice::Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) {
  next_->Fill(dst, value, bytes, on);
}
StreamHandle ForwardingDevice::CreateStream() { return next_->CreateStream(); }
void ForwardingDevice::DestroyStream(StreamHandle stream) noexcept { next_->DestroyStream(stream); }
void ForwardingDevice::Synchronize(StreamHandle stream) { next_->Synchronize(stream); }
EventHandle ForwardingDevice::Record(StreamHandle on) { return next_->Record(on); }
EventHandle ForwardingDevice::RecordMeasuring(StreamHandle on) { return next_->RecordMeasuring(on); }
std::int64_t ForwardingDevice::Elapsed(EventHandle from, EventHandle to) { return next_->Elapsed(from, to); }
void ForwardingDevice::Release(EventHandle event) noexcept { next_->Release(event); }
void ForwardingDevice::StreamWait(StreamHandle on, EventHandle event) { next_->StreamWait(on, event); }
void ForwardingDevice::HostWait(EventHandle event) { next_->HostWait(event); }
bool ForwardingDevice::Reached(EventHandle event) noexcept { return next_->Reached(event); }
bool ForwardingDevice::Pageable(const void* ptr) const noexcept { return next_->Pageable(ptr); }

std::optional<EventHandle> FullForwardingDevice::CopyAndRecord(CopyKind kind, void* dst, const void* src,
                                                               std::size_t bytes, StreamHandle on) {
  return next().CopyAndRecord(kind, dst, src, bytes, on);
}
void FullForwardingDevice::Order(std::span<const StreamHandle> before, StreamHandle then) {
  next().Order(before, then);
}

}  // namespace ferry
