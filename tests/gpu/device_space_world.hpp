// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <memory>

#include "ferry/backend.hpp"
#include "ferry/detail/kokkos/execution_space.hpp"
#include "ferry/synced_memory.hpp"
#include "tests/gpu/gpus.hpp"

/// Kernels by the Kokkos of kokkos/Kokkos_Core.hpp on simulated GPUs.
namespace ferry::testing {

using detail::DeviceSpace;
using detail::RunOnGpu;

inline void MakeCurrent(int index) { REQUIRE(Runtime::SetDevice(index) == Runtime::kSuccess); }

/// The GPU that Kokkos is initialised for, which is another one than the current one.
inline constexpr int kOwn = 1;

/// Uses both GPUs, so that both have contexts, and leaves the first one current.
struct World {
  World() {
    for (Device* const device : {second.get(), first.get()}) SyncedMemory(4, *device).mutable_gpu_data();
    MakeCurrent(0);
    REQUIRE(detail::UseKokkos(kOwn));
  }

  const std::unique_ptr<Device> first = MakeDevice(NameOf(0)), second = MakeDevice(NameOf(kOwn));
  std::atomic<std::uint64_t> launched_on = 0;
};

}  // namespace ferry::testing
