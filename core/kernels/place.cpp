// SPDX-License-Identifier: BSD-2-Clause
#include <atomic>

#include "core/device/name.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos/execution_space.hpp"
#include "ferry/log.hpp"

namespace ferry {
namespace {

void WarnOnce(const Device& device) {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  Log(LogLevel::kWarning, "Kokkos was built without kernels for " + device.properties().backend +
                              ": those of " + Name(device) +
                              " run on the CPU, and the memory goes there and back");
}

}  // namespace

Place Place::Cpu(Device& device) noexcept { return Place(Side::kCpu, Stream::Main(device)); }

Place Place::On(const Stream& on) {
  const DeviceProperties& device = on.device().properties();
  if (device.launch != nullptr || device.kernels_at_once || detail::OnDeviceSpace(device))
    return Place(Side::kGpu, on);
  WarnOnce(on.device());
  return Place(Side::kCpu, on);
}

}  // namespace ferry
