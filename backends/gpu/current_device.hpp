// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace ferry::gpu {

/// Makes a GPU the calling thread's current device, whatever the library that is called then makes of it, and
/// puts the old one back. Each backend with kernels defines it.
class CurrentDevice {
 public:
  /// Throws DeviceError.
  explicit CurrentDevice(int index);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

/// Whether the current device still does what it is asked: not after a kernel failed, and not once the driver
/// is gone.
bool CurrentDeviceWorks() noexcept;

}  // namespace ferry::gpu
