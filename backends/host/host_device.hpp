// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ferry/device.hpp"

namespace ferry::host {

/// The machine without a GPU: one memory for all kinds, aligned to 64 bytes, and streams whose work is done
/// when the call that queues it returns. So every event is over, and nothing waits.
class HostDevice final : public Device {
 public:
  HostDevice();

  const DeviceProperties& properties() const noexcept override { return properties_; }

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override;
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override;

  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override;
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override;

  StreamHandle CreateStream() override { return StreamHandle{NewHandle()}; }
  void DestroyStream(StreamHandle) noexcept override {}
  void Synchronize(StreamHandle) override {}

  EventHandle Record(StreamHandle) override { return EventHandle{NewHandle()}; }
  EventHandle RecordMeasuring(StreamHandle on) override;
  std::int64_t Elapsed(EventHandle from, EventHandle to) override;
  void Release(EventHandle) noexcept override {}
  void StreamWait(StreamHandle, EventHandle) override {}
  void HostWait(EventHandle) override {}
  bool Reached(EventHandle) noexcept override { return true; }

 private:
  std::uintptr_t NewHandle() noexcept { return ++newest_handle_; }

  DeviceProperties properties_;
  std::atomic<std::uintptr_t> newest_handle_;
  std::atomic<std::uintptr_t> newest_time_{0};
};

}  // namespace ferry::host
