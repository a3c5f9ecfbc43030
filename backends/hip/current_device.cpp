// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/current_device.hpp"

#include "backends/gpu/current_device_by.hpp"
#include "backends/hip/hip_runtime.hpp"

namespace ferry::gpu {

using Hip = CurrentDeviceBy<hip::HipRuntime>;

CurrentDevice::CurrentDevice() : previous_(Hip::Current()) {}
CurrentDevice::CurrentDevice(int index) : previous_(Hip::Replace(index)) {}
CurrentDevice::CurrentDevice(const Stream& on) : CurrentDevice(on.device().properties().index) {
  Hip::RequireWorking(on.handle());
}
CurrentDevice::~CurrentDevice() { Hip::PutBack(previous_); }

bool CurrentDeviceWorks() noexcept { return hipDeviceSynchronize() == hipSuccess; }
bool StreamWorks(StreamHandle stream) noexcept { return Hip::Works(stream); }

void CallLibrary(const char* call, const std::function<void()>& work) { Hip::CallLibrary(call, work); }

/// No contexts: for HIP, Kokkos sets the device of a stream.
void Upkeep(const std::function<void()>& work) { Hip::Upkeep(work); }

int RuntimeVersion() noexcept { return 1000 * HIP_VERSION_MAJOR + 10 * HIP_VERSION_MINOR; }

}  // namespace ferry::gpu
