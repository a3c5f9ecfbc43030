// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/current_device.hpp"

#include "backends/gpu/current_device_by.hpp"
#include "backends/hip/hip_runtime.hpp"

namespace ferry::gpu {

using Hip = CurrentDeviceBy<hip::HipRuntime>;

CurrentDevice::CurrentDevice(int index) : previous_(Hip::Replace(index)) {}
CurrentDevice::CurrentDevice(const Stream& on) : CurrentDevice(on.device().properties().index) {
  Hip::RequireWorking(on.handle());
}
CurrentDevice::~CurrentDevice() { (void)hipSetDevice(previous_); }

bool CurrentDeviceWorks() noexcept { return hipDeviceSynchronize() == hipSuccess; }

}  // namespace ferry::gpu
