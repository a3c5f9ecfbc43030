// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

#include "ferry/stream.hpp"

/// What calls of libraries that queue on the current device need of a vendor's runtime. Each backend with
/// kernels defines it.
namespace ferry::gpu {

/// Makes a GPU the calling thread's current device, and puts the old one back at the end, whatever the
/// libraries that were called in between have made current. An old one without a context was nobody's choice,
/// and to put it back would make one there: then the last one stays.
class CurrentDevice {
 public:
  /// Leaves the current device what it is. Throws DeviceError.
  CurrentDevice();
  /// Throws DeviceError.
  explicit CurrentDevice(int index);
  /// The stream's, for a library that would end the program on a device that a kernel has made useless: it
  /// throws DeviceError then too.
  explicit CurrentDevice(const Stream& on);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  /// Which was current before.
  int previous() const noexcept { return previous_; }

 private:
  int previous_;
};

/// Whether the current device does all that it was asked, which is waited for: not after a kernel failed, and
/// not once the driver is gone.
bool CurrentDeviceWorks() noexcept;
/// The same of one stream of the current device, as far as is known where it is under capture. A wait for the
/// whole device would end captures of the program's.
bool StreamWorks(StreamHandle stream) noexcept;

/// Runs `work`, which calls a library that may fail without a word. Throws DeviceError for what is the
/// calling thread's last error afterwards, and for a std::runtime_error that the library threw; `call` says
/// what was done. Other exceptions pass. An older last error is forgotten. Captures of the program's are
/// left alone.
void CallLibrary(const char* call, const std::function<void()>& work);

/// Runs `work`, in which a library may make or destroy what it keeps: calls that it takes leave captures of
/// the program's alone, and contexts that it pushes on the calling thread are popped. Kokkos leaves one there
/// for each instance.
void Upkeep(const std::function<void()>& work);

/// The version of the runtime that this build is for, 1000 * major + 10 * minor.
int RuntimeVersion() noexcept;

}  // namespace ferry::gpu
