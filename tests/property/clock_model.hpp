// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/synced_memory.hpp"
#include "tests/property/clock_device.hpp"

namespace ferry::testing {

/// What the bytes of a memory on a ClockMachine must be. Accesses are made through it; those that read must
/// find these bytes, and those that write put a number of their own into all bytes.
class ClockModel {
 public:
  ClockModel(ClockMachine& machine, std::size_t size) : machine_(machine), bytes_(size) {}

  /// For a memory that is new.
  void Reset() {
    std::fill(bytes_.begin(), bytes_.end(), std::byte{});
    version_ = 0;
  }
  /// By the host, where `on` is null.
  void Use(SyncedMemory& memory, ByteRange range, Access access, const Stream* on) {
    auto* const ptr = static_cast<std::byte*>(Ask(memory, range, access, on));
    const auto queue = on == nullptr ? 0 : ClockDevice::Of(on->handle());
    std::byte* const model = bytes_.data() + range.first;
    if (access != Access::kOverwrite) {
      machine_.Use(ptr, range.bytes, false, queue);
      if (!std::equal(ptr, ptr + range.bytes, model)) machine_.Wrong("the bytes are not current");
    }
    if (access == Access::kRead) return;
    machine_.Use(ptr, range.bytes, true, queue);
    ++version_;
    std::fill_n(ptr, range.bytes, std::byte{version_});
    std::fill_n(model, range.bytes, std::byte{version_});
  }

 private:
  static void* Ask(SyncedMemory& memory, ByteRange range, Access access, const Stream* on) {
    if (access == Access::kRead)
      return const_cast<void*>(on == nullptr ? memory.cpu_data(range) : memory.gpu_data(range, *on));
    if (access == Access::kReadWrite)
      return on == nullptr ? memory.mutable_cpu_data(range) : memory.mutable_gpu_data(range, *on);
    return on == nullptr ? memory.overwrite_cpu_data(range) : memory.overwrite_gpu_data(range, *on);
  }

  ClockMachine& machine_;
  std::vector<std::byte> bytes_;
  std::uint8_t version_ = 0;
};

}  // namespace ferry::testing
