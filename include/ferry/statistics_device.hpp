// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "ferry/forwarding_device.hpp"

namespace ferry {

/// What a device was asked for, and did. Calls that threw are not counted.
struct Statistics {
  /// Of one kind.
  struct Work {
    std::uint64_t count = 0;  ///< calls
    std::uint64_t bytes = 0;  ///< of all calls together
  };
  Work host_to_device;           ///< copies
  Work device_to_host;           ///< copies
  Work device_to_device;         ///< copies, those from a peer included
  Work fills;                    ///< calls of Fill
  Work allocations;              ///< of every kind of memory
  std::uint64_t live_bytes = 0;  ///< allocated and not given back
  std::uint64_t peak_bytes = 0;  ///< the most that live_bytes ever was
};

/// What was done since `then`; live_bytes and peak_bytes stay those of `now`.
Statistics operator-(const Statistics& now, const Statistics& then) noexcept;

/// Counts what passes through it.
class StatisticsDevice final : public FullForwardingDevice {
 public:
  using FullForwardingDevice::FullForwardingDevice;

  /// A consistent snapshot. Any thread may call.
  Statistics statistics() const;

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override;
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override;
  void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
               std::span<const StreamHandle> users) noexcept override;
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override;
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override;
  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override;

 private:
  void Freed(std::size_t bytes) noexcept;
  void Copied(CopyKind kind, std::size_t bytes) noexcept;

  mutable std::mutex mutex_;
  Statistics statistics_;
};

/// Those of the StatisticsDevice in the device's stack of adaptors, since it was made; those of GetDevice and
/// MakeDevice have one. Throws std::logic_error where there is none. Any thread may call.
Statistics GetStatistics(const Device& device);

}  // namespace ferry
