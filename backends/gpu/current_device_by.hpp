// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "backends/gpu/gpu_runtime.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {

/// What current_device.hpp declares, by a runtime's names: for the source file of a backend that defines it.
template <GpuRuntime Runtime>
struct CurrentDeviceBy {
  using Error = typename Runtime::Error;

  /// Returns which was current before.
  static int Replace(int index) {
    int previous = 0;
    Check("GetDevice", Runtime::GetDevice(&previous));
    Check("SetDevice", Runtime::SetDevice(index));
    return previous;
  }

  /// Throws DeviceError where a kernel has made the stream's device useless, as far as is known by now. A
  /// stream under capture is not asked, for that would end the capture.
  static void RequireWorking(StreamHandle on) {
    const auto stream = reinterpret_cast<typename Runtime::Stream>(on);
    typename Runtime::CaptureStatus status = Runtime::kNotCapturing;
    Error error = Runtime::StreamIsCapturing(stream, &status);
    if (error == Runtime::kSuccess && status == Runtime::kNotCapturing) error = Runtime::StreamQuery(stream);
    if (error == Runtime::kNotReady || error == Runtime::kStreamCaptureImplicit)
      (void)Runtime::GetLastError();
    else
      Check("StreamQuery", error);
  }

 private:
  static void Check(const char* call, Error error) {
    if (error == Runtime::kSuccess) return;
    (void)Runtime::GetLastError();
    throw DeviceError(std::string(Runtime::kName) + call, static_cast<int>(error),
                      Runtime::GetErrorString(error));
  }
};

}  // namespace ferry::gpu
