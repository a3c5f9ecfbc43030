// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "ferry/device.hpp"

namespace ferry::sim {

/// CUDA's names over the simulated machine that ferry/sim.hpp describes. Numbers of errors are CUDA's.
struct SimRuntime {
  static constexpr const char* kName = "sim";
  enum Error {
    kSuccess = 0,
    kInvalidValue = 1,
    kOutOfMemory = 2,
    kInvalidDevice = 101,
    kInvalidHandle = 400,
    kIllegalState = 401,  ///< the end of a capture that has not begun
    kPeerAccessAlreadyEnabled = 704,
    kLaunchFailed = 719,  ///< sticky: a kernel threw
    kNotReady = 600,      ///< no error: work is still queued
    kNotPermitted = 800,  ///< a kernel called the runtime
    kNotSupported = 801,
    kStreamCaptureUnsupported = 900,
    kStreamCaptureInvalidated = 901,
    kStreamCaptureImplicit = 906,
    kInjected = 999,
  };
  enum Direction { kHostToDevice, kDeviceToHost, kDeviceToDevice };
  enum CaptureStatus { kNotCapturing, kCapturing };
  enum CaptureMode { kCaptureGlobal, kCaptureThreadLocal, kCaptureRelaxed };
  using Stream = struct StreamNumber*;  ///< a number, never dereferenced; the same one may come again
  using Event = struct EventNumber*;    ///< the same

  static const char* GetErrorName(Error error) noexcept;
  static const char* GetErrorString(Error error) noexcept;
  static Error GetLastError() noexcept;

  static Error GetDevice(int* index);
  static Error SetDevice(int index);
  static Error DeviceSynchronize();
  static Error ContextIsActive(int index, bool* active);
  static Error Describe(int index, DeviceProperties& properties);

  static Error Malloc(void** ptr, std::size_t bytes);
  static Error MallocAsync(void** ptr, std::size_t bytes, Stream on);
  static Error MallocHost(void** ptr, std::size_t bytes);
  static Error MallocManaged(void** ptr, std::size_t bytes);
  static Error KeepFreedMemory(int index);    ///< it keeps nothing
  static Error GiveUpFreedMemory(int index);  ///< likewise
  static Error OpenPool(int index, int reader);
  static Error DeviceEnablePeerAccess(int peer);
  static Error PointerGetDevice(int* index, const void* ptr);
  static Error FreeAsync(void* ptr, Stream on);
  static Error FreeHost(void* ptr);  ///< at once: waits for nothing
  static Error Free(void* ptr);      ///< at once: waits for nothing

  static Error MemcpyAsync(void* dst, const void* src, std::size_t bytes, Direction direction, Stream on);
  static Error MemsetAsync(void* dst, int value, std::size_t bytes, Stream on);

  static Error StreamCreate(Stream* stream);
  static Error StreamDestroy(Stream stream);
  static Error StreamSynchronize(Stream stream);
  static Error StreamQuery(Stream stream);  ///< kNotReady while work is queued
  static Error StreamWaitEvent(Stream on, Event event);
  static Error StreamIsCapturing(Stream stream, CaptureStatus* status);
  static bool EventsNeedStream();
  static Error ThreadExchangeStreamCaptureMode(CaptureMode* mode);

  static Error EventCreate(Event* event);
  static Error EventCreateMeasuring(Event* event);
  /// Of the host's clock, when the queues' work got there.
  static Error EventElapsedTime(float* milliseconds, Event from, Event to);
  static Error EventRecord(Event event, Stream on);
  static Error EventDestroy(Event event);
  static Error EventSynchronize(Event event);
  static Error EventQuery(Event event);  ///< kNotReady before it is reached; runs no kernel
};

}  // namespace ferry::sim
