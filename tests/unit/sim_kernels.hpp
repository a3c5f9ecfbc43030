// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "ferry/synced_memory.hpp"
#include "sim_fixture.hpp"

/// Kernels of the simulated GPU that write and read memories.
namespace ferry::testing {

inline void Set(const Stream& on, void* ptr, int value, std::size_t bytes) {
  sim::Launch(on, {ptr}, [=] { std::memset(ptr, value, bytes); });
}
/// What a kernel finds in the first byte, as soon as it has run.
inline void See(const Stream& on, const void* ptr, int& seen) {
  sim::Launch(on, {ptr}, [=, &seen] { seen = *static_cast<const unsigned char*>(ptr); });
}

inline void Fill(SyncedMemory& memory, const Stream& on, int value) {
  Set(on, memory.overwrite_gpu_data(on), value, memory.size());
}
/// Waits for the kernel.
inline int Sees(const SyncedMemory& memory, const Stream& on) {
  int seen = -1;
  See(on, memory.gpu_data(on), seen);
  on.Synchronize();
  return seen;
}

inline void CheckNoMisuse() { CHECK(sim::Inspect().misuse == std::vector<std::string>{}); }

}  // namespace ferry::testing
