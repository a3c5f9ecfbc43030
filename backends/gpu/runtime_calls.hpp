// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "backends/gpu/gpu_runtime.hpp"
#include "ferry/error.hpp"

/// What all who call a runtime share: handles, errors, and what a capture allows.
namespace ferry::gpu {

template <GpuRuntime Runtime>
typename Runtime::Stream Native(StreamHandle stream) noexcept {
  return reinterpret_cast<typename Runtime::Stream>(stream);
}

/// Forgets an error. Else somebody's next look at the thread's last error would find ours.
template <GpuRuntime Runtime>
void Ignore(typename Runtime::Error error) noexcept {
  if (error != Runtime::kSuccess) (void)Runtime::GetLastError();
}

/// Which device's memory a pointer is to, or with which it is pinned or managed: -1 where the driver knows no
/// such memory, and `index` where it does not say.
template <GpuRuntime Runtime>
int OwnerOf(const void* ptr, int index) noexcept {
  Ignore<Runtime>(Runtime::PointerGetDevice(&index, ptr));
  return index;
}

template <GpuRuntime Runtime>
auto DirectionOf(CopyKind kind) noexcept {
  return kind == CopyKind::kHostToDevice   ? Runtime::kHostToDevice
         : kind == CopyKind::kDeviceToHost ? Runtime::kDeviceToHost
                                           : Runtime::kDeviceToDevice;
}

/// As MakeDevice takes it, and errors show it.
template <GpuRuntime Runtime>
std::string NameOf(int device) {
  return std::string(Runtime::kName) + ':' + std::to_string(device);
}
/// Whose memory an allocation of this kind takes, as errors show it.
template <GpuRuntime Runtime>
std::string OwnerOf(MemoryKind kind, int device) {
  return (kind == MemoryKind::kPinnedHost ? "host memory pinned for " : "") + NameOf<Runtime>(device);
}

/// Throws DeviceError for an error of `call`, and forgets it. `device` is where it happened, if that is
/// known.
template <GpuRuntime Runtime>
void Check(const char* call, typename Runtime::Error error, std::optional<int> device = {}) {
  if (error == Runtime::kSuccess) return;
  (void)Runtime::GetLastError();
  throw DeviceError(std::string(Runtime::kName) + ' ' + call, static_cast<int>(error),
                    std::string(Runtime::GetErrorName(error)) + ", " + Runtime::GetErrorString(error) +
                        (device ? ", on " + NameOf<Runtime>(*device) : ""));
}

/// Whether a stream is under capture. The legacy stream waits for blocking streams: while one of them is, it
/// is as good as captured. Returns another error of the question.
template <GpuRuntime Runtime>
typename Runtime::Error AskCapturing(StreamHandle on, bool& capturing) noexcept {
  typename Runtime::CaptureStatus status = Runtime::kNotCapturing;
  const auto error = Runtime::StreamIsCapturing(Native<Runtime>(on), &status);
  capturing = error == Runtime::kStreamCaptureImplicit || status != Runtime::kNotCapturing;
  if (error != Runtime::kStreamCaptureImplicit) return error;
  (void)Runtime::GetLastError();
  return Runtime::kSuccess;
}

/// While it lives, the calling thread may make calls that would end a graph capture elsewhere in the program,
/// such as allocations. They neither belong to such a capture nor depend on one. Needs a context.
template <GpuRuntime Runtime>
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept : exchanged_(Exchange()) {}
  ~RelaxedCapture() {
    if (exchanged_) Exchange();
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  bool Exchange() noexcept {
    const auto error = Runtime::ThreadExchangeStreamCaptureMode(&mode_);
    Ignore<Runtime>(error);
    return error == Runtime::kSuccess;
  }
  typename Runtime::CaptureMode mode_ = Runtime::kCaptureRelaxed;
  bool exchanged_;
};

}  // namespace ferry::gpu
