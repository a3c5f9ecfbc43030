// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/gpu_device.hpp"
#include "backends/sim/sim_runtime.hpp"
#include "ferry/sim.hpp"
#include "ferry/stream.hpp"

namespace ferry::testing {

using SimDevice = gpu::GpuDevice<sim::SimRuntime>;
inline constexpr std::size_t kBytes = 64;

/// A new machine, its first device, and two streams of it.
struct SimWorld {
  explicit SimWorld(const sim::Options& options = {}) : reset((sim::Reset(options), 0)) {}

  std::byte* NewDevice(const Stream& on, std::size_t bytes = kBytes) {
    return static_cast<std::byte*>(device.Allocate(MemoryKind::kDevice, bytes, on.handle()));
  }
  std::byte* NewPinned(std::size_t bytes = kBytes) {
    return static_cast<std::byte*>(device.Allocate(MemoryKind::kPinnedHost, bytes, main.handle()));
  }
  void Free(MemoryKind kind, void* ptr, const Stream& on, std::size_t bytes = kBytes) {
    device.Deallocate(kind, ptr, bytes, on.handle());
  }

  int reset;
  SimDevice device{0};
  Stream main = Stream::Main(device);
  Stream side{device};
};

/// A blocking stream of the program's own. While it is under capture, its device's main one is held up, if
/// captures spread.
class BlockingStream {
 public:
  explicit BlockingStream(Device& device)
      : device_(&device), stream_(Stream::Borrow(device, sim::CreateBlockingStream(device))) {}
  ~BlockingStream() { device_->DestroyStream(stream_.handle()); }
  BlockingStream(const BlockingStream&) = delete;
  BlockingStream& operator=(const BlockingStream&) = delete;

  const Stream& operator*() const { return stream_; }

 private:
  Device* device_;
  Stream stream_;
};

inline sim::SimRuntime::Stream Native(const Stream& stream) {
  return reinterpret_cast<sim::SimRuntime::Stream>(stream.handle());
}

/// What was misused, where that was one thing.
inline std::string OnlyMisuse() {
  const auto misuse = sim::Inspect().misuse;
  REQUIRE(misuse.size() == 1);
  return misuse.front();
}
inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace ferry::testing
