// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "ferry/device.hpp"

namespace ferry {

/// Passes every call on to the device that it owns. An adaptor overrides what it is about; one that overrides
/// Deallocate must override Abandon too, and one that overrides Record perhaps RecordMeasuring. CopyAndRecord
/// and Order are not passed on: they are made of the other calls, so that no adaptor misses a copy, a point
/// or a wait.
class ForwardingDevice : public Device {
 public:
  /// Throws std::invalid_argument for null.
  explicit ForwardingDevice(std::unique_ptr<Device> next) : next_(std::move(next)) {
    if (next_ == nullptr)
      throw std::invalid_argument(
          "ferry::ForwardingDevice: the pointer is null; give a device to pass calls on to");
  }

  /// The device below, which calls are passed on to.
  Device& next() const noexcept { return *next_; }

  const DeviceProperties& properties() const noexcept override { return next_->properties(); }
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    return next_->Allocate(kind, bytes, on);
  }
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override {
    next_->Deallocate(kind, ptr, bytes, on);
  }
  void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
               std::span<const StreamHandle> users) noexcept override {
    next_->Abandon(kind, ptr, bytes, users);
  }
  void Trim() override { next_->Trim(); }
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    next_->Copy(kind, dst, src, bytes, on);
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    next_->Fill(dst, value, bytes, on);
  }
  StreamHandle CreateStream() override { return next_->CreateStream(); }
  void DestroyStream(StreamHandle stream) noexcept override { next_->DestroyStream(stream); }
  void Synchronize(StreamHandle stream) override { next_->Synchronize(stream); }
  EventHandle Record(StreamHandle on) override { return next_->Record(on); }
  EventHandle RecordMeasuring(StreamHandle on) override { return next_->RecordMeasuring(on); }
  std::int64_t Elapsed(EventHandle from, EventHandle to) override { return next_->Elapsed(from, to); }
  void Release(EventHandle event) noexcept override { next_->Release(event); }
  void StreamWait(StreamHandle on, EventHandle event) override { next_->StreamWait(on, event); }
  void HostWait(EventHandle event) override { next_->HostWait(event); }
  bool Reached(EventHandle event) noexcept override { return next_->Reached(event); }

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
                                           StreamHandle on) override {
    return next().CopyAndRecord(kind, dst, src, bytes, on);
  }
  void Order(std::span<const StreamHandle> before, StreamHandle then) override { next().Order(before, then); }
};

}  // namespace ferry
