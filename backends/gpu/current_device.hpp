// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/stream.hpp"

namespace ferry::gpu {

/// Makes a GPU the calling thread's current device, whatever the library that is called then makes of it, and
/// puts the old one back. Each backend with kernels defines it.
class CurrentDevice {
 public:
  /// Throws DeviceError.
  explicit CurrentDevice(int index);
  /// The stream's, for a library that would end the program on a device that a kernel has made useless: it
  /// throws DeviceError then too.
  explicit CurrentDevice(const Stream& on);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

/// Whether the current device does all that it was asked, which is waited for: not after a kernel failed, and
/// not once the driver is gone.
bool CurrentDeviceWorks() noexcept;

}  // namespace ferry::gpu
