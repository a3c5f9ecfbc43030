// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "ferry/checked_device.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/property/world.hpp"

/// Host memory that runs out, once, in a call of Ferry's: for one source file of a program, whose operator
/// new this defines.
namespace ferry::testing {

inline long allocations = 0;  ///< so far, in calls of Ferry's
inline long fails_at = 0;     ///< the n-th fails, counted from 1; 0: none

}  // namespace ferry::testing

// Not inlined: else GCC 12 warns of a free of what new has made.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  using namespace ferry::testing;
  if (InFerry::now() && ++allocations == fails_at) throw std::bad_alloc();
  if (void* const ptr = std::malloc(bytes)) return ptr;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* ptr) noexcept { std::free(ptr); }
[[gnu::noinline]] void operator delete(void* ptr, std::size_t) noexcept { std::free(ptr); }

namespace ferry::testing {

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
};

/// The simulated device, with no such failures in itself; or with the adaptors of MakeDevice around it, and
/// with them.
inline std::unique_ptr<Device> MakeShielded(bool stacked) {
  std::unique_ptr<Device> device = std::make_unique<Below>(MakeSim());
  if (!stacked) return device;
  device = std::make_unique<CheckedDevice>(std::make_unique<PooledDevice>(std::move(device)));
  return std::make_unique<StatisticsDevice>(std::move(device));
}

}  // namespace ferry::testing
