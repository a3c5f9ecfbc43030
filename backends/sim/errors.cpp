// SPDX-License-Identifier: BSD-2-Clause
#include <utility>

#include "machine.hpp"

namespace ferry::sim {
namespace {

thread_local Error last_error = SimRuntime::kSuccess;

}  // namespace

Error Remember(Error error, bool last_call_only) noexcept {
  if (error != SimRuntime::kSuccess || last_call_only) last_error = error;
  return error;
}

SimRuntime::Error SimRuntime::GetLastError() noexcept { return std::exchange(last_error, kSuccess); }

const char* SimRuntime::GetErrorName(Error error) noexcept {
  switch (error) {
    case kSuccess:
      return "kSuccess";
    case kInvalidValue:
      return "kInvalidValue";
    case kOutOfMemory:
      return "kOutOfMemory";
    case kInvalidDevice:
      return "kInvalidDevice";
    case kInvalidHandle:
      return "kInvalidHandle";
    case kIllegalState:
      return "kIllegalState";
    case kPeerAccessAlreadyEnabled:
      return "kPeerAccessAlreadyEnabled";
    case kLaunchFailed:
      return "kLaunchFailed";
    case kNotReady:
      return "kNotReady";
    case kNotPermitted:
      return "kNotPermitted";
    case kNotSupported:
      return "kNotSupported";
    case kStreamCaptureUnsupported:
      return "kStreamCaptureUnsupported";
    case kStreamCaptureInvalidated:
      return "kStreamCaptureInvalidated";
    case kStreamCaptureImplicit:
      return "kStreamCaptureImplicit";
    case kInjected:
      return "kInjected";
  }
  return "unknown";
}

const char* SimRuntime::GetErrorString(Error error) noexcept {
  switch (error) {
    case kSuccess:
      return "no error";
    case kInvalidValue:
      return "an argument that cannot be; where it is misuse, sim::Inspect().misuse has it";
    case kOutOfMemory:
      return "out of memory";
    case kInvalidDevice:
      return "no such device";
    case kInvalidHandle:
      return "a handle that cannot be used here; sim::Inspect().misuse has more";
    case kIllegalState:
      return "the stream is not under graph capture";
    case kPeerAccessAlreadyEnabled:
      return "the device has access to the peer's memory already";
    case kLaunchFailed:
      return "a kernel failed, and its device until the machine is reset";
    case kNotReady:
      return "not done yet";
    case kNotPermitted:
      return "kernels must not call the runtime";
    case kNotSupported:
      return "not supported by this device";
    case kStreamCaptureUnsupported:
      return "the stream is under graph capture";
    case kStreamCaptureInvalidated:
      return "a call that is not safe has ended the capture";
    case kStreamCaptureImplicit:
      return "the stream would wait for one under graph capture";
    case kInjected:
      return "injected fault";
  }
  return "unknown";
}

}  // namespace ferry::sim
