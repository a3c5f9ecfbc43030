// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/kernel_place.hpp"

#include <atomic>

#include "ferry/detail/kokkos/execution_space.hpp"
#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

bool HasKernels(const DeviceProperties& device) noexcept {
  return device.launch != nullptr || device.kernels_at_once || OnDeviceSpace(device);
}

void WarnOnce(const DeviceProperties& device) {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  Log(LogLevel::kWarning, "Kokkos was built without kernels for " + device.backend + ": those of " +
                              device.backend + ':' + std::to_string(device.index) +
                              " run on the CPU, and the memory goes there and back");
}

}  // namespace

KernelPlace::KernelPlace(const Place& place) : place_(&place) {
  const DeviceProperties& device = place.device().properties();
  if (place.side() == Side::kCpu || HasKernels(device)) return;
  WarnOnce(device);
  place_ = &cpu_.emplace(Place::Cpu(place.device()));
}

}  // namespace ferry::detail
