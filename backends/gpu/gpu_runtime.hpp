// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "ferry/device.hpp"

namespace ferry::gpu {

/// A vendor's runtime as a struct of names: each static function is the one that CUDA calls cuda<Name> and
/// HIP hip<Name>, with its meaning, and returns its error. Exceptions, checks and policy are GpuDevice's.
///
/// Where the names of the two differ, or say less than is meant:
///   Describe       fills name, architecture, pci_id, memory, wavefront, memory_pools, unified, main_stream,
///                  thread_stream, peers and launch. The main stream is the legacy default stream, however
///                  callers are compiled.
///   StreamCreate   makes a non-blocking stream (cudaStreamCreateWithFlags).
///   EventCreate    makes an event without time stamps (cudaEventCreateWithFlags). A host that has waited for
///                  it sees what the device wrote to host memory.
///   EventCreateMeasuring  makes one with time stamps, for EventElapsedTime, which is in milliseconds.
///   MallocAsync    and FreeAsync are called where Describe says memory_pools; else Malloc, and Free after
///                  StreamSynchronize. An allocation that gives a null pointer is out of memory.
///   Free           takes what Malloc, MallocManaged and MallocAsync made, when no work uses it any more.
///   GetLastError   forgets the calling thread's last error.
///   StreamQuery    and EventQuery ask whether the work is done; kNotReady, which is no error, says that it
///                  is not.
///   ContextIsActive  says whether the program has used a device; it does not make a context there.
///   KeepFreedMemory  makes the pool behind MallocAsync keep what is freed; GiveUpFreedMemory gives that back
///                  to the system, once the work of all streams is done. Called where there are memory_pools.
///   PointerGetDevice  says which device's memory a pointer is to, or with which it is pinned or managed; -1
///                  where the driver knows no such memory.
///   DeviceEnablePeerAccess  gives the current device access to what Malloc makes on another one. Copies that
///                  read it without go by way of the host.
///   OpenPool       gives device `reader` access to what MallocAsync makes on device `index`, and has made.
///                  Copies that read it without fail. Called where that one has memory_pools.
///   ThreadExchangeStreamCaptureMode  exchanges what the calling thread may do while a stream is under
///                  capture; kCaptureRelaxed lets it do all that cannot harm the capture.
///   EventsNeedStream  says whether waiting for an event, or asking for it, looks at the event's stream,
///                  which must not be destroyed before.
///   kNotCapturing  is the capture status of a stream whose work runs.
///   kStreamCaptureImplicit  is the answer of StreamIsCapturing for a main stream that would have to wait for
///                  a stream under capture.
template <class R>
concept GpuRuntime = requires(
    int* out_index, int index, DeviceProperties& properties, void** out_ptr, void* ptr, const void* source,
    std::size_t bytes, int value, typename R::Error error, typename R::Direction direction,
    typename R::Stream* out_stream, typename R::Stream stream, typename R::CaptureStatus* out_status,
    typename R::Event* out_event, typename R::Event event, bool* out_flag, typename R::CaptureMode* mode) {
                       { R::kName } -> std::convertible_to<const char*>;
                       { R::kSuccess } -> std::convertible_to<typename R::Error>;
                       { R::kOutOfMemory } -> std::convertible_to<typename R::Error>;
                       { R::kInvalidValue } -> std::convertible_to<typename R::Error>;
                       { R::kNotReady } -> std::convertible_to<typename R::Error>;
                       { R::kStreamCaptureUnsupported } -> std::convertible_to<typename R::Error>;
                       { R::kStreamCaptureImplicit } -> std::convertible_to<typename R::Error>;
                       { R::kHostToDevice } -> std::convertible_to<typename R::Direction>;
                       { R::kDeviceToHost } -> std::convertible_to<typename R::Direction>;
                       { R::kDeviceToDevice } -> std::convertible_to<typename R::Direction>;
                       { R::kCaptureRelaxed } -> std::convertible_to<typename R::CaptureMode>;
                       { R::kNotCapturing } -> std::convertible_to<typename R::CaptureStatus>;

                       { R::GetErrorName(error) } -> std::convertible_to<const char*>;
                       { R::GetErrorString(error) } -> std::convertible_to<const char*>;
                       { R::GetLastError() } -> std::same_as<typename R::Error>;

                       { R::GetDevice(out_index) } -> std::same_as<typename R::Error>;
                       { R::SetDevice(index) } -> std::same_as<typename R::Error>;
                       { R::DeviceSynchronize() } -> std::same_as<typename R::Error>;
                       { R::ContextIsActive(index, out_flag) } -> std::same_as<typename R::Error>;
                       { R::Describe(index, properties) } -> std::same_as<typename R::Error>;

                       { R::Malloc(out_ptr, bytes) } -> std::same_as<typename R::Error>;
                       { R::MallocAsync(out_ptr, bytes, stream) } -> std::same_as<typename R::Error>;
                       { R::MallocHost(out_ptr, bytes) } -> std::same_as<typename R::Error>;
                       { R::MallocManaged(out_ptr, bytes) } -> std::same_as<typename R::Error>;
                       { R::KeepFreedMemory(index) } -> std::same_as<typename R::Error>;
                       { R::GiveUpFreedMemory(index) } -> std::same_as<typename R::Error>;
                       { R::OpenPool(index, index) } -> std::same_as<typename R::Error>;
                       { R::DeviceEnablePeerAccess(index) } -> std::same_as<typename R::Error>;
                       { R::PointerGetDevice(out_index, source) } -> std::same_as<typename R::Error>;
                       { R::FreeAsync(ptr, stream) } -> std::same_as<typename R::Error>;
                       { R::FreeHost(ptr) } -> std::same_as<typename R::Error>;
                       { R::Free(ptr) } -> std::same_as<typename R::Error>;

                       {
                         R::MemcpyAsync(ptr, source, bytes, direction, stream)
                         } -> std::same_as<typename R::Error>;
                       { R::MemsetAsync(ptr, value, bytes, stream) } -> std::same_as<typename R::Error>;

                       { R::StreamCreate(out_stream) } -> std::same_as<typename R::Error>;
                       { R::StreamDestroy(stream) } -> std::same_as<typename R::Error>;
                       { R::StreamSynchronize(stream) } -> std::same_as<typename R::Error>;
                       { R::StreamQuery(stream) } -> std::same_as<typename R::Error>;
                       { R::StreamWaitEvent(stream, event) } -> std::same_as<typename R::Error>;
                       { R::StreamIsCapturing(stream, out_status) } -> std::same_as<typename R::Error>;
                       { R::EventsNeedStream() } -> std::same_as<bool>;

                       { R::ThreadExchangeStreamCaptureMode(mode) } -> std::same_as<typename R::Error>;

                       { R::EventCreate(out_event) } -> std::same_as<typename R::Error>;
                       { R::EventCreateMeasuring(out_event) } -> std::same_as<typename R::Error>;
                       {
                         R::EventElapsedTime(std::declval<float*>(), event, event)
                         } -> std::same_as<typename R::Error>;
                       { R::EventRecord(event, stream) } -> std::same_as<typename R::Error>;
                       { R::EventDestroy(event) } -> std::same_as<typename R::Error>;
                       { R::EventSynchronize(event) } -> std::same_as<typename R::Error>;
                       { R::EventQuery(event) } -> std::same_as<typename R::Error>;
                     };

}  // namespace ferry::gpu
