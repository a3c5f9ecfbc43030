// SPDX-License-Identifier: BSD-2-Clause
#include "backends/gpu/current_device.hpp"

#include "backends/hip/hip_runtime.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {
namespace {

void Check(const char* call, hipError_t error) {
  if (error == hipSuccess) return;
  (void)hipGetLastError();
  throw DeviceError(call, error, hipGetErrorString(error));
}

}  // namespace

CurrentDevice::CurrentDevice(int index) {
  Check("hipGetDevice", hipGetDevice(&previous_));
  Check("hipSetDevice", hipSetDevice(index));
}
CurrentDevice::CurrentDevice(const Stream& on) : CurrentDevice(on.device().properties().index) {}
CurrentDevice::~CurrentDevice() { (void)hipSetDevice(previous_); }

bool CurrentDeviceWorks() noexcept { return hipDeviceSynchronize() == hipSuccess; }

}  // namespace ferry::gpu
