// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "ferry/detail/told_waits.hpp"
#include "ferry/device.hpp"
#include "ferry/site.hpp"

namespace ferry {
namespace detail {

class InPlace;
class Queue;

/// Which queue of work, told from every other one by one compare: a handle alone can come again, is the same
/// number on several devices, and for a thread's default stream names another queue in each thread.
enum class StreamId : std::uint64_t {
  kNone = 0,
  kHost = 1,                           ///< the host, among those that access memory
  kOfThread = 2,                       ///< a thread's default stream; which one depends on who asks
  kFirstOwn = std::uint64_t{1} << 63,  ///< from here on, streams that Ferry made
};

}  // namespace detail

/// A queue of work. A value: copies share the queue, and the last one gives it back.
/// Its device must outlive it. Any thread may use it.
class Stream {
 public:
  /// A new stream. Unordered with every other stream, the main one included, unless you wait explicitly.
  /// Throws DeviceError.
  explicit Stream(Device& device, const Site& site = Site::Caller());
  /// The device's default stream, which is there without being made.
  static Stream Main(Device& device) noexcept {
    const DeviceProperties& properties = device.properties();
    return Stream(device, properties, properties.main_stream);
  }
  /// A stream of somebody else's. Before it is destroyed, each memory that was accessed on it must end or be
  /// told so (SyncedMemory::Forget).
  static Stream Borrow(Device& device, StreamHandle handle) noexcept {
    return Stream(device, device.properties(), handle);
  }

  /// Whose work it queues.
  Device& device() const noexcept { return *device_; }
  /// The backend's own; ferry/cuda.hpp and ferry/hip.hpp make the vendor's type of it.
  StreamHandle handle() const noexcept { return handle_; }
  /// Tells this queue from every other one. For a thread's default stream: that of the calling thread.
  detail::StreamId id() const noexcept;
  /// The host waits for all that is queued. Throws DeviceError.
  void Synchronize(Site site = Site::Caller()) const {
    if (detail::WaitsAreTold()) [[unlikely]]
      return SynchronizeTold(site.file(), site.line(), site.function());
    device_->Synchronize(handle_);
  }

  /// The same queue. A thread's default stream is another one in each thread.
  friend bool operator==(const Stream& a, const Stream& b) noexcept {
    return a.handle_ == b.handle_ && a.device_ == b.device_;
  }

 private:
  friend class SyncedMemory;
  friend class detail::InPlace;
  friend class detail::Queue;
  Stream(Device& device, const DeviceProperties& properties, StreamHandle handle) noexcept;
  void SynchronizeTold(const char* file, int line, const char* function) const;

  Device* device_;
  StreamHandle handle_;
  detail::StreamId id_;
  std::shared_ptr<detail::Queue> queue_;  ///< shared by its users; empty where the queue is somebody else's
};

/// A point in a stream's work: constructing one records it. A value: copies are the same point.
/// It may outlive its stream, not its device. Any thread may use it.
class Event {
 public:
  /// A point after all that is queued on `on` so far. Throws DeviceError.
  explicit Event(const Stream& on) : Event(on.device(), on.handle()) { TellOn(on); }
  /// The same by a handle of the device, and no observer is told (PointRecord).
  Event(Device& device, StreamHandle on) : Event(device, device.Record(on)) {}

  /// The same, which keeps the time at which it is reached, for Elapsed. Throws DeviceError, and
  /// std::logic_error where the device has no clock.
  static Event Measuring(const Stream& on) {
    Event event = Measuring(on.device(), on.handle());
    event.TellOn(on);
    return event;
  }
  /// The same by a handle of the device, and no observer is told.
  static Event Measuring(Device& device, StreamHandle on) { return {device, device.RecordMeasuring(on)}; }

  /// Queues a copy on `on`, and returns the point right after it; nullopt where the copy is queued and no
  /// point could be made. Throws DeviceError.
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

  /// Whose stream the point is in.
  Device& device() const noexcept { return *device_; }
  /// The backend's own.
  EventHandle handle() const noexcept { return EventHandle{reinterpret_cast<std::uintptr_t>(owner_.get())}; }
  /// The host waits for the work before the point. Throws DeviceError.
  void HostWait(Site site = Site::Caller()) const {
    if (detail::WaitsAreTold()) [[unlikely]]
      return HostWaitTold(site.file(), site.line(), site.function());
    device_->HostWait(handle());
  }
  /// What is queued on `waiter` from now on runs after the point. The waiter's device is of the same backend.
  /// The host does not wait. Throws DeviceError.
  void StreamWait(const Stream& waiter) const {
    waiter.device().StreamWait(waiter.handle(), handle());
    if (detail::WaitsAreTold()) [[unlikely]]
      TellStreamWait(waiter);
  }

 private:
  friend std::int64_t Elapsed(const Event& from, const Event& to, const Site& site);
  struct Release;
  Event(Device& device, EventHandle handle) : device_(&device), owner_(Own(device, handle)) {}
  static std::shared_ptr<void> Own(Device& device, EventHandle handle);
  void HostWaitTold(const char* file, int line, const char* function) const;
  void TellOn(const Stream& on) {
    if (detail::WaitsAreTold()) [[unlikely]]
      GetNumber(on);
  }
  void GetNumber(const Stream& on) noexcept;
  void TellStreamWait(const Stream& waiter) const noexcept;
  detail::PointNumber number() const noexcept;

  Device* device_;
  std::shared_ptr<void> owner_;  ///< its deleter is a Release
};

/// The time from one measuring event to another, in nanoseconds; negative where `to` was reached first. The
/// host waits for both. A GPU's clock is good for about half a microsecond, and for seven digits. Throws
/// std::logic_error for an event that does not measure, and for events of two devices; DeviceError. Any
/// thread may call.
std::int64_t Elapsed(const Event& from, const Event& to, const Site& site = Site::Caller());

}  // namespace ferry
