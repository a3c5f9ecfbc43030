// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ferry/detail/language.hpp"

namespace ferry {

/// What memory is made for: a device's work, copies to and from the host, or use by both.
enum class MemoryKind : std::uint8_t { kDevice, kPinnedHost, kManaged };
/// Which way a copy goes.
enum class CopyKind : std::uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

/// A backend's own handle, opaque and typed. No stream has the values from kHost on.
enum class StreamHandle : std::uintptr_t { kHost = ~std::uintptr_t{1}, kNone = ~std::uintptr_t{0} };
/// A backend's own handle of an event, opaque and typed.
enum class EventHandle : std::uintptr_t {};

/// Memory that a kernel uses, a range of one block. Not null.
struct Touch {
  static constexpr std::size_t kRest = ~std::size_t{0};  ///< as far as the block goes

  /// All of the block from `first` on. What is named by a pointer to const is only read.
  template <class T>
  // NOLINTNEXTLINE(google-explicit-constructor): a list of pointers is a list of these
  Touch(T* first) : ptr(first), bytes(kRest), writes(!std::is_const_v<T>) {}
  /// `n` elements. Throws std::invalid_argument for fewer than none.
  template <class T>
  Touch(T* first, std::int64_t n) : ptr(first), bytes(Counted(n) * sizeof(T)), writes(!std::is_const_v<T>) {}

  const void* ptr;    ///< to the first byte
  std::size_t bytes;  ///< how many, or kRest
  bool writes;        ///< and perhaps reads

 private:
  static std::size_t Counted(std::int64_t n) {
    if (n < 0) throw std::invalid_argument("ferry: a kernel uses " + std::to_string(n) + " elements");
    return static_cast<std::size_t>(n);
  }
};

/// Queues host code in the order of stream `on` of the backend's device number `device`; `touches` is the
/// device's memory that it uses.
using HostCodeLauncher = void (*)(int device, StreamHandle on, std::vector<Touch> touches,
                                  std::function<void()> code);

/// What is known of a device, and all that the core decides by.
struct DeviceProperties {
  std::string backend;         ///< "cuda", "hip", "sim", "host"
  std::string name;            ///< the vendor's name of the model
  std::string architecture;    ///< "sm_90", "gfx942"; empty where there is none
  std::string pci_id;          ///< "0000:17:00.0"; empty where there is none
  int index = 0;               ///< among the backend's devices
  std::size_t memory = 0;      ///< in bytes
  int wavefront = 0;           ///< threads that run in step, 32 or 64; 0 where there is no such thing
  bool memory_pools = false;   ///< kDevice comes from the vendor's own stream-ordered pool
  bool unified = false;        ///< kManaged is as good as kDevice, and the host may use it while kernels run
  StreamHandle main_stream{};  ///< the vendor's default stream
  /// Names the calling thread's own default stream, which the main stream waits for; kNone where there is no
  /// such thing.
  StreamHandle thread_stream = StreamHandle::kNone;
  std::vector<int> peers{};           ///< of the same backend, whose memory its copies can read
  HostCodeLauncher launch = nullptr;  ///< where kernels are host code that must be queued; else null
  bool kernels_at_once = false;       ///< kernels are host code that runs when it is called, on any stream
  bool fine_kernels = false;          ///< kernels that are host code do as little an index as those of a GPU
};

/// One accelerator, or the host: memory, ordered work on it, points in that order to wait for.
///
/// Pointers are not null, bytes > 0, handles are this device's; CheckedDevice asserts it. Any thread may
/// call. What can fail throws DeviceError or OutOfMemory. A call that threw has given out nothing; Copy,
/// Fill, StreamWait and Order may still have queued their work. A device outlives its memory, streams and
/// events. No call may queue work on a stream under graph capture, or wait for one: that throws. A capture on
/// another stream is left alone, whatever its mode.
class Device {
 public:
  /// Throws std::length_error for more than 16,383 devices at a time.
  Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device();

  /// Unique among the devices that live and those that something has outlived. From 1 to 16,383.
  std::uint16_t serial() const noexcept { return serial_; }

  /// What the core decides by. They never change.
  virtual const DeviceProperties& properties() const noexcept = 0;

  /// kDevice is ordered on stream `on`: work queued there after Allocate may use the block, and work queued
  /// there before Deallocate still may. The host can use the other kinds, and no stream orders the host: they
  /// are ready when Allocate returns, no queued work may use them any more at Deallocate, and `on` is
  /// ignored.
  virtual void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) = 0;
  /// Gives back what Allocate returned, of the same kind and as many bytes, under the conditions said there.
  virtual void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept = 0;
  /// Deallocate for a block of any kind that work queued on `users` may still use, where the caller could
  /// neither order nor wait for that work: some of these streams are under graph capture. The block goes back
  /// once the captures have ended and that work is done.
  virtual void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
                       std::span<const StreamHandle> users) noexcept {
    Deallocate(kind, ptr, bytes, users.front());  // for a device whose streams cannot be captured
  }
  /// Gives unused memory that it keeps back to the system. May wait for queued work.
  virtual void Trim() {}

  /// Queued on `on`, run in its order; may return before it is done. With kDeviceToDevice, `src` may be
  /// memory of one of this device's peers.
  virtual void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) = 0;
  /// Sets each of `bytes` bytes of this device's memory to `value`. Queued as Copy is.
  virtual void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) = 0;

  /// Owned through Stream. A destroyed stream still finishes its work.
  virtual StreamHandle CreateStream() = 0;
  /// For a stream that CreateStream made. Its work goes on to its end.
  virtual void DestroyStream(StreamHandle stream) noexcept = 0;
  /// The host waits for all that is queued on the stream.
  virtual void Synchronize(StreamHandle stream) = 0;

  /// A point after the work queued on `on` so far. Owned through Event; may outlive its stream.
  virtual EventHandle Record(StreamHandle on) = 0;
  /// The same, of a point that measures: it keeps the time at which it is reached. Throws std::logic_error
  /// for a device that has no clock.
  virtual EventHandle RecordMeasuring(StreamHandle on);
  /// From one measuring point to another, in nanoseconds; negative where `to` was reached first. The host
  /// waits for both. Throws std::logic_error for a point that does not measure.
  virtual std::int64_t Elapsed(EventHandle from, EventHandle to);
  /// Gives an event back. Waits that were asked for by then still hold.
  virtual void Release(EventHandle event) noexcept = 0;
  /// `on` is this device's; the event may be another device's of the same backend.
  virtual void StreamWait(StreamHandle on, EventHandle event) = 0;
  /// The host waits for the work before the point.
  virtual void HostWait(EventHandle event) = 0;
  /// Whether the work before the point is done; if so, it is as if the host had waited. Neither waits nor
  /// helps; false where that can't be told.
  virtual bool Reached(EventHandle) noexcept { return false; }
  /// Whether a copy of host memory at `ptr` goes by way of a buffer of the driver's, since it is pageable:
  /// nobody has pinned it. False where that can't be told. To ask may make a context, as any call does.
  virtual bool Pageable(const void* /*ptr*/) const noexcept { return false; }

  // Two sequences of the calls above that are so frequent that a device may have a shorter way.

  /// Copy, and a point right after it; nullopt if the copy is queued and its point could not be recorded.
  virtual std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src,
                                                   std::size_t bytes, StreamHandle on);
  /// What is queued on `then` from now on comes after what is queued on each of `before` so far. If it
  /// throws, it may have ordered some of them.
  virtual void Order(std::span<const StreamHandle> before, StreamHandle then);

 private:
  const std::uint16_t serial_;
};

}  // namespace ferry
