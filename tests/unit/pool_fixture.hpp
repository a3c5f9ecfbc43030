// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferry/pooled_device.hpp"
#include "tests/unit/probe_device.hpp"

namespace ferry::testing {

using enum MemoryKind;
using Calls = std::vector<std::string>;

inline constexpr StreamHandle kA{7}, kB{8};

/// A pool over a probe, and the pool alone.
struct Pool {
  Pool() { device.emplace(std::unique_ptr<Device>(probe_owner.release())); }
  std::unique_ptr<ProbeDevice> probe_owner = std::make_unique<ProbeDevice>();
  ProbeDevice& probe = *probe_owner;
  std::optional<PooledDevice> device;

  void* Take(MemoryKind kind, std::size_t bytes, StreamHandle on = kA) {
    return device->Allocate(kind, bytes, on);
  }
  void Give(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on = kA) {
    device->Deallocate(kind, ptr, bytes, on);
  }
};

inline std::string Number(StreamHandle stream) { return std::to_string(static_cast<std::uintptr_t>(stream)); }

}  // namespace ferry::testing
