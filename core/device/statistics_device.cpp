// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/statistics_device.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/device/name.hpp"

namespace ferry {
namespace {

void Add(Statistics::Work& work, std::uint64_t bytes) noexcept {
  ++work.count;
  work.bytes += bytes;
}

Statistics::Work operator-(const Statistics::Work& now, const Statistics::Work& then) noexcept {
  return {now.count - then.count, now.bytes - then.bytes};
}

}  // namespace

Statistics operator-(const Statistics& now, const Statistics& then) noexcept {
  return {.host_to_device = now.host_to_device - then.host_to_device,
          .device_to_host = now.device_to_host - then.device_to_host,
          .device_to_device = now.device_to_device - then.device_to_device,
          .fills = now.fills - then.fills,
          .allocations = now.allocations - then.allocations,
          .live_bytes = now.live_bytes,
          .peak_bytes = now.peak_bytes};
}

Statistics StatisticsDevice::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void* StatisticsDevice::Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  void* const ptr = next().Allocate(kind, bytes, on);
  const std::lock_guard lock(mutex_);
  Add(statistics_.allocations, bytes);
  statistics_.live_bytes += bytes;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.live_bytes);
  return ptr;
}

/// Before the device has the bytes back, and another thread can get them. What is given back twice, which the
/// checks of a debug build refuse, leaves no number below 0.
void StatisticsDevice::Freed(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.live_bytes -= std::min<std::uint64_t>(statistics_.live_bytes, bytes);
}

void StatisticsDevice::Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept {
  Freed(bytes);
  next().Deallocate(kind, ptr, bytes, on);
}

void StatisticsDevice::Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
                               std::span<const StreamHandle> users) noexcept {
  Freed(bytes);
  next().Abandon(kind, ptr, bytes, users);
}

void StatisticsDevice::Copied(CopyKind kind, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  Add(kind == CopyKind::kHostToDevice   ? statistics_.host_to_device
      : kind == CopyKind::kDeviceToHost ? statistics_.device_to_host
                                        : statistics_.device_to_device,
      bytes);
}

void StatisticsDevice::Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) {
  next().Copy(kind, dst, src, bytes, on);
  Copied(kind, bytes);
}

std::optional<EventHandle> StatisticsDevice::CopyAndRecord(CopyKind kind, void* dst, const void* src,
                                                           std::size_t bytes, StreamHandle on) {
  const auto point = next().CopyAndRecord(kind, dst, src, bytes, on);
  Copied(kind, bytes);
  return point;
}

void StatisticsDevice::Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) {
  next().Fill(dst, value, bytes, on);
  const std::lock_guard lock(mutex_);
  Add(statistics_.fills, bytes);
}

Statistics GetStatistics(const Device& device) {
  for (const Device* layer = &device; layer != nullptr;) {
    if (const auto* counted = dynamic_cast<const StatisticsDevice*>(layer)) return counted->statistics();
    const auto* adaptor = dynamic_cast<const ForwardingDevice*>(layer);
    layer = adaptor == nullptr ? nullptr : &adaptor->next();
  }
  throw std::logic_error("GetStatistics: no StatisticsDevice around device " + Name(device));
}

}  // namespace ferry
