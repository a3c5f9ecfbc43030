// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/kokkos/execution_space.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/kernels/gpu/device_space.hpp"
#include "ferry/backend.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

std::atomic<bool> running{
    false};  // is_initialized() is a plain bool in 3.4, and may not be asked by all threads
std::atomic<bool> over{false};
std::atomic<bool> ours{false};
[[maybe_unused]] int device_of_ours = 0;  // where there is a device space

bool WasFinalized() {
#if KOKKOS_VERSION >= 30700
  return Kokkos::is_finalized();
#else
  return over;
#endif
}

/// A Kokkos with a device space aborts where it finds no device.
bool LacksDevice() {
  if (!kHasDeviceSpace) return false;
  const auto backends = Backends();
  return std::none_of(backends.begin(), backends.end(), [](const Backend& backend) {
    return backend.name == BackendOf<DeviceSpace>() && backend.count() > 0;
  });
}

/// Kokkos ends the program with an error where its GPU has failed.
bool CanFinalize() {
  if constexpr (kHasDeviceSpace) return GpuWorks(device_of_ours);
  return true;
}

void InitializeFor([[maybe_unused]] int device) {
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;
  if (kHasDeviceSpace) settings.set_device_id(device);
  Kokkos::initialize(settings);
#else
  Kokkos::initialize();
#endif
}

void Initialize(std::optional<int> gpu) {
  if constexpr (kHasDeviceSpace)
    device_of_ours = WithGpuPutBack(gpu, InitializeFor);
  else
    InitializeFor(0);
  ours = true;
  std::atexit([] {
    if (ours && CanFinalize()) Kokkos::finalize();
  });
}

}  // namespace

bool UseKokkos(std::optional<int> gpu) {
  if (running.load(std::memory_order_acquire)) return true;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (running) return true;
  if (!Kokkos::is_initialized()) {
    if (over || WasFinalized() || LacksDevice()) return false;
    Initialize(gpu);
  }
  Kokkos::push_finalize_hook([] {
    running = false;
    ours = false;
    over = true;
  });
  running.store(true, std::memory_order_release);
  return true;
}

void RequireKokkos(std::optional<int> gpu) {
  if (UseKokkos(gpu)) return;
  if (over || WasFinalized()) throw std::logic_error("ferry: a kernel after Kokkos::finalize");
  throw NoDevice("ferry: this Kokkos was built for " + std::string(BackendOf<DeviceSpace>()) +
                 " and runs nothing without a GPU; one built for the host alone does");
}

}  // namespace ferry::detail
