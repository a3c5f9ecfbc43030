// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "backends/gpu/current_gpu.hpp"
#include "backends/gpu/runtime_calls.hpp"
#include "backends/gpu/stream_pool.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {

/// What current_device.hpp and stream_pool.hpp declare, by a runtime's names: for the source files of a
/// backend that define it.
template <GpuRuntime Runtime>
struct CurrentDeviceBy {
  using Error = typename Runtime::Error;

  static int Current() {
    int index = 0;
    Check<Runtime>("GetDevice", Runtime::GetDevice(&index));
    return index;
  }
  /// Returns which was current before.
  static int Replace(int index) {
    const int previous = Current();
    if (previous != index) Check<Runtime>("SetDevice", Runtime::SetDevice(index));
    return previous;
  }
  /// For what CurrentGpu cannot know: a device that a library has made current. Makes no context, either.
  static void PutBack(int previous) noexcept {
    int current = previous;
    bool active = false;
    Error error = Runtime::GetDevice(&current);
    if (error == Runtime::kSuccess && current != previous)
      error = Runtime::ContextIsActive(previous, &active);
    if (error == Runtime::kSuccess && active) error = Runtime::SetDevice(previous);
    Ignore<Runtime>(error);
  }

  /// Throws DeviceError where a kernel has made the stream's device useless, as far as is known by now. A
  /// stream under capture is not asked, for that would end the capture. StreamIsCapturing alone would not do:
  /// vendors say that it may return such an error, not that it does.
  static void RequireWorking(StreamHandle on) {
    bool capturing = false;
    const Error error = Ask(on, capturing);
    if (error != Runtime::kNotReady) Check<Runtime>("StreamQuery", error);
  }

  /// Whether the stream of the current device does all that it was asked, which is waited for; of one under
  /// capture, as far as is known.
  static bool Works(StreamHandle on) noexcept {
    bool capturing = false;
    Error error = Ask(on, capturing);
    if (error == Runtime::kNotReady) {
      const RelaxedCapture<Runtime> relaxed;
      error = Runtime::StreamSynchronize(Native<Runtime>(on));
      Ignore<Runtime>(error);
    }
    return error == Runtime::kSuccess;
  }

  static StreamState StateOf(int device, StreamHandle stream) noexcept {
    const CurrentGpu<Runtime> current(device);
    if (current.error() != Runtime::kSuccess) return StreamState::kUnusable;
    bool capturing = false;
    const Error error = Ask(stream, capturing);
    if (capturing) return StreamState::kUnusable;
    return error == Runtime::kSuccess    ? StreamState::kIdle
           : error == Runtime::kNotReady ? StreamState::kBusy
                                         : StreamState::kUnusable;
  }

  static void CallLibrary(const char* call, const std::function<void()>& work) {
    thread_local int depth = 0;
    const struct Inside {
      Inside() { ++depth; }
      ~Inside() { --depth; }
    } inside;
    if (depth == 1) (void)Runtime::GetLastError();  // deeper, it may be what the work around this one left
    // A library allocates and waits when it likes. Until its last error is known, which a call may clear.
    const RelaxedCapture<Runtime> relaxed;
    try {
      work();
    } catch (const std::runtime_error& error) {
      if (typeid(error) != typeid(std::runtime_error)) throw;  // the caller's own, or one of Ferry's
      throw DeviceError(std::string(Runtime::kName) + ' ' + call, static_cast<int>(Runtime::GetLastError()),
                        error.what());
    }
    const Error error = Runtime::GetLastError();
    if (error != Runtime::kNotReady) Check<Runtime>(call, error);
  }

  static void Upkeep(const std::function<void()>& work) {
    const RelaxedCapture<Runtime> relaxed;
    work();
  }

 private:
  /// StreamQuery's answer, which is not asked for during a capture. Leaves no last error.
  static Error Ask(StreamHandle on, bool& capturing) noexcept {
    Error error = AskCapturing<Runtime>(on, capturing);
    if (error == Runtime::kSuccess && !capturing) {
      const RelaxedCapture<Runtime> relaxed;
      error = Runtime::StreamQuery(Native<Runtime>(on));
    }
    Ignore<Runtime>(error);
    return error;
  }
};

}  // namespace ferry::gpu
