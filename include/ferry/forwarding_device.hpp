// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "ferry/device.hpp"

namespace ferry {

/// Passes every call on to the device that it owns. An adaptor overrides what it is about; one that overrides
/// Deallocate must override Abandon too, and one that overrides Record perhaps RecordMeasuring. CopyAndRecord
/// and Order are not passed on: they are made of the other calls, so that no adaptor misses a copy, a point
/// or a wait.
class ForwardingDevice : public Device {
 public:
  /// Throws std::invalid_argument for null.
  explicit ForwardingDevice(std::unique_ptr<Device> next);

  /// The device below, which calls are passed on to.
  Device& next() const noexcept { return *next_; }

  const DeviceProperties& properties() const noexcept override;
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override;
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override;
  void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
               std::span<const StreamHandle> users) noexcept override;
  void Trim() override;
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override;
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override;
  StreamHandle CreateStream() override;
  void DestroyStream(StreamHandle stream) noexcept override;
  void Synchronize(StreamHandle stream) override;
  EventHandle Record(StreamHandle on) override;
  EventHandle RecordMeasuring(StreamHandle on) override;
  std::int64_t Elapsed(EventHandle from, EventHandle to) override;
  void Release(EventHandle event) noexcept override;
  void StreamWait(StreamHandle on, EventHandle event) override;
  void HostWait(EventHandle event) override;
  bool Reached(EventHandle event) noexcept override;
  bool Pageable(const void* ptr) const noexcept override;

 private:
  std::unique_ptr<Device> next_;
};

/// Passes CopyAndRecord and Order on, too, which the next device may have a shorter way for. For an adaptor
/// that overrides none of Copy, Record and StreamWait, of which they are made, or that overrides these two,
/// too.
class FullForwardingDevice : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override;
  void Order(std::span<const StreamHandle> before, StreamHandle then) override;
};

}  // namespace ferry
