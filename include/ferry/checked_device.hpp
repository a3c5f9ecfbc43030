// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "ferry/forwarding_device.hpp"

namespace ferry {

/// Asserts the preconditions of Device: pointers, sizes, kinds and handles are what this device gave out, and
/// copies and fills that begin in one of its blocks end there. What another checked device gave out is known,
/// too: its pinned and managed memory (with a unified device as the device's, too), a peer's memory as the
/// source of a copy between devices, and the events of its backend pass, and nothing else of it. Memory,
/// streams and other devices' events that no checked device knows may be somebody else's, and pass. So does
/// the handle of a stream that was destroyed: vendors give it out again, perhaps to somebody who lends the
/// new stream. The simulated GPU knows which streams there are, and reports the others (decision 0014).
///
/// Misuse is counted and not passed on. A call that may throw then throws std::logic_error, which names the
/// call (std::invalid_argument for a null pointer); one that may not logs the same text as an error, and so
/// does the destructor for what was not given back.
class CheckedDevice final : public ForwardingDevice {
 public:
  /// Throws std::invalid_argument for no device.
  explicit CheckedDevice(std::unique_ptr<Device> next);
  ~CheckedDevice() override;

  /// How many calls broke a precondition so far. Any thread may call.
  std::int64_t misuse_count() const noexcept { return misuse_count_.load(std::memory_order_relaxed); }

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override;
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override;
  void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
               std::span<const StreamHandle> users) noexcept override;
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
  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override;
  void Order(std::span<const StreamHandle> before, StreamHandle then) override;

 private:
  struct Known;
  /// Where a pointer is to.
  struct Found {
    MemoryKind kind;
    std::size_t room;  ///< from there to the end of its block, in bytes
  };
  /// Which memory a call means. kSource is this device's, or a peer's.
  enum class Role : std::uint8_t { kHost, kDevice, kSource };

  void Require(bool kept, const char* call, const char* broken);
  void RequireBlock(const char* call, MemoryKind kind, void* ptr, std::size_t bytes);
  void RequireCopy(const char* call, CopyKind kind, void* dst, const void* src, std::size_t bytes,
                   StreamHandle on);
  void RequireStream(const char* call, StreamHandle stream);
  EventHandle Recorded(const char* call, EventHandle (Device::*record)(StreamHandle), StreamHandle on);
  void NoteEvent(EventHandle event);
  void RequireKnown(const char* call, EventHandle event);
  void RequireWaitable(const char* call, EventHandle event);
  void RequireRange(const char* call, const std::string& name, const void* ptr, std::size_t bytes, Role role);
  std::optional<Found> Find(const void* ptr);
  bool SameGpu(const Device& other) const;
  /// Calls each(device) for the other checked devices that there are.
  template <class Each>
  void ForOthers(Each each);

  std::mutex mutex_;  ///< guards what follows; open while the next device is at work
  std::unique_ptr<Known> known_;
  std::atomic<std::int64_t> misuse_count_{0};
};

}  // namespace ferry
