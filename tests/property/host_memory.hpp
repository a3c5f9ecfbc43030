// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <new>

#include "ferry/checked_device.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/property/world.hpp"

/// Host memory that runs out, once, in a call of Ferry's. host_memory.cpp is the operator new of the program.
namespace ferry::testing {

extern long allocations;  ///< so far, in calls of Ferry's
extern long fails_at;     ///< the n-th fails, counted from 1; 0: none

/// What is below Ferry, and no business of this test.
class Below final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    const InFerry below(false);
    return next().Allocate(kind, bytes, on);
  }
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override {
    const InFerry below(false);
    next().Deallocate(kind, ptr, bytes, on);
  }
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    const InFerry below(false);
    next().Copy(kind, dst, src, bytes, on);
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    const InFerry below(false);
    next().Fill(dst, value, bytes, on);
  }
  StreamHandle CreateStream() override {
    const InFerry below(false);
    return next().CreateStream();
  }
  void DestroyStream(StreamHandle stream) noexcept override {
    const InFerry below(false);
    next().DestroyStream(stream);
  }
  void Synchronize(StreamHandle stream) override {
    const InFerry below(false);
    next().Synchronize(stream);
  }
  EventHandle Record(StreamHandle on) override {
    const InFerry below(false);
    return next().Record(on);
  }
  EventHandle RecordMeasuring(StreamHandle on) override {
    const InFerry below(false);
    return next().RecordMeasuring(on);
  }
  std::int64_t Elapsed(EventHandle from, EventHandle to) override {
    const InFerry below(false);
    return next().Elapsed(from, to);
  }
  void Release(EventHandle event) noexcept override {
    const InFerry below(false);
    next().Release(event);
  }
  void StreamWait(StreamHandle on, EventHandle event) override {
    const InFerry below(false);
    next().StreamWait(on, event);
  }
  void HostWait(EventHandle event) override {
    const InFerry below(false);
    next().HostWait(event);
  }
  bool Reached(EventHandle event) noexcept override {
    const InFerry below(false);
    return next().Reached(event);
  }
};

/// The simulated device, with no such failures in itself; or with the adaptors of MakeDevice around it, and
/// with them.
inline std::unique_ptr<Device> MakeShielded(bool stacked) {
  std::unique_ptr<Device> device = std::make_unique<Below>(MakeSim());
  if (!stacked) return device;
  device = std::make_unique<StatisticsDevice>(std::make_unique<PooledDevice>(std::move(device)));
  return std::make_unique<CheckedDevice>(std::move(device));
}

/// Takes turns, each with a later allocation that fails, until a turn has none left to fail. A turn is given
/// a function that makes one call of Ferry's, with that failure, and returns whether it happened.
template <class Turn>
void ForEachFailedAllocation(const Turn& turn) {
  bool failed = true;
  long nth = 0;
  while (failed) {
    ++nth;
    CAPTURE(nth);
    turn([&](const auto& call) {
      allocations = 0;
      fails_at = nth;
      try {
        const InFerry in_ferry;
        call();
        failed = allocations >= nth;  // and yet it happened
        fails_at = 0;
        return true;
      } catch (const std::bad_alloc&) {
        fails_at = 0;
        return false;
      }
    });
  }
}

}  // namespace ferry::testing
