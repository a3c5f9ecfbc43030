// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "ferry/device.hpp"

namespace ferry {

/// A queue of work. A value: copies share the queue, and the last one gives it back.
/// Its device must outlive it. Any thread may use it.
class Stream {
 public:
  /// A new stream: unordered with every other one, the main one included, unless you wait explicitly.
  explicit Stream(Device& device)
      : device_(&device),
        queue_(
            reinterpret_cast<void*>(device.CreateStream()),
            [&device](void* p) { device.DestroyStream(StreamHandle{reinterpret_cast<std::uintptr_t>(p)}); }),
        user_(std::make_shared<char>()),
        handle_{reinterpret_cast<std::uintptr_t>(queue_.get())} {}
  /// The device's default stream.
  static Stream Main(Device& device) noexcept { return Stream(device, device.properties().main_stream); }
  /// Somebody else's. It must outlive every memory that was accessed on it.
  static Stream Borrow(Device& device, StreamHandle handle) noexcept { return Stream(device, handle); }

  Device& device() const noexcept { return *device_; }
  StreamHandle handle() const noexcept { return handle_; }
  /// The host waits for all that is queued. Throws DeviceError.
  void Synchronize() const { device_->Synchronize(handle_); }

  friend bool operator==(const Stream& a, const Stream& b) noexcept {
    return a.handle_ == b.handle_ && a.device_ == b.device_;
  }

 private:
  friend class StreamNote;
  Stream(Device& device, StreamHandle handle) noexcept : device_(&device), handle_(handle) {}

  Device* device_;
  std::shared_ptr<void> queue_;  ///< empty where the queue is somebody else's
  std::shared_ptr<void> user_;   ///< alive as long as somebody can queue work
  StreamHandle handle_;
};

/// A memory's reference to a stream that it may wait for. Keeps the queue alive without counting as a user,
/// so that the memory knows when the last user has gone.
class StreamNote {
 public:
  explicit StreamNote(const Stream& stream) : stream_(stream), user_(stream.user_) { stream_.user_.reset(); }

  /// To wait for, or to compare.
  const Stream& stream() const noexcept { return stream_; }
  /// To queue work on, as one more user.
  Stream ToStream() const {
    Stream stream = stream_;
    stream.user_ = user_.lock();
    return stream;
  }
  /// The queue lives on as long as this does.
  bool owns() const noexcept { return stream_.queue_ != nullptr; }
  /// Nobody can queue work there any more.
  bool orphaned() const noexcept { return stream_.queue_ != nullptr && user_.expired(); }

 private:
  Stream stream_;
  std::weak_ptr<void> user_;
};

/// A point in a stream's work: constructing one records it. A value: copies are the same point.
/// It may outlive its stream, not its device.
class Event {
 public:
  /// A point after all that is queued on `on` so far. Throws DeviceError.
  explicit Event(const Stream& on) : Event(on.device(), on.device().Record(on.handle())) {}

  /// Queues a copy on `on`. Returns the point right after it, or nullopt if the copy is queued and its point
  /// could not be made. Throws DeviceError.
  static std::optional<Event> OfCopy(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                     const Stream& on) {
    const auto handle = on.device().CopyAndRecord(kind, dst, src, bytes, on.handle());
    if (!handle) return std::nullopt;
    try {
      return Event(on.device(), *handle);
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  }

  EventHandle handle() const noexcept { return EventHandle{reinterpret_cast<std::uintptr_t>(owner_.get())}; }
  void HostWait() const { device_->HostWait(handle()); }
  void StreamWait(const Stream& waiter) const { waiter.device().StreamWait(waiter.handle(), handle()); }

 private:
  Event(Device& device, EventHandle handle)
      : device_(&device), owner_(reinterpret_cast<void*>(handle), [&device](void* p) {
          device.Release(EventHandle{reinterpret_cast<std::uintptr_t>(p)});
        }) {}

  Device* device_;
  std::shared_ptr<void> owner_;
};

}  // namespace ferry
