// SPDX-License-Identifier: BSD-2-Clause
// The functions that CUDA and HIP have under one name but for its beginning, made of the simulated GPU: for
// one source file of a vendor's, after its header, with FERRY_VENDOR(name) as that name and FERRY_EVENT_FLAGS
// as what EventCreateWithFlags is given for an event that does not measure. No guard, for it is nobody
// else's.
#include "tests/gpu/are_simulated.hpp"
#include "tests/gpu/simulated.hpp"

bool ferry::testing::AreSimulated() { return true; }

namespace ferry::simulated {

using VendorError = FERRY_VENDOR(Error_t);

/// The vendors' numbers of errors are the simulator's.
inline VendorError Give(SimRuntime::Error error) { return static_cast<VendorError>(static_cast<int>(error)); }

}  // namespace ferry::simulated

using ferry::simulated::Give;
using ferry::simulated::SimRuntime;
namespace simulated = ferry::simulated;

extern "C" {

const char* FERRY_VENDOR(GetErrorName)(FERRY_VENDOR(Error_t) error) {
  return SimRuntime::GetErrorName(static_cast<SimRuntime::Error>(error));
}
const char* FERRY_VENDOR(GetErrorString)(FERRY_VENDOR(Error_t) error) {
  return SimRuntime::GetErrorString(static_cast<SimRuntime::Error>(error));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(GetLastError)() { return Give(SimRuntime::GetLastError()); }

FERRY_VENDOR(Error_t) FERRY_VENDOR(GetDeviceCount)(int* count) { return Give(simulated::Count(count)); }
FERRY_VENDOR(Error_t) FERRY_VENDOR(GetDevice)(int* device) { return Give(SimRuntime::GetDevice(device)); }
FERRY_VENDOR(Error_t) FERRY_VENDOR(SetDevice)(int device) { return Give(SimRuntime::SetDevice(device)); }
FERRY_VENDOR(Error_t) FERRY_VENDOR(DeviceSynchronize)() { return Give(SimRuntime::DeviceSynchronize()); }
FERRY_VENDOR(Error_t) FERRY_VENDOR(DeviceGetPCIBusId)(char* id, int size, int device) {
  return Give(simulated::PciIdOf(id, size, device));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(DeviceGetByPCIBusId)(int* device, const char* id) {
  return Give(simulated::DeviceByPciId(device, id));
}

FERRY_VENDOR(Error_t) FERRY_VENDOR(DeviceCanAccessPeer)(int* can, int device, int peer) {
  return Give(simulated::CanAccessPeer(can, device, peer));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(DeviceEnablePeerAccess)(int peer, unsigned flags) {
  simulated::Expect(flags == 0, __func__);
  return Give(SimRuntime::DeviceEnablePeerAccess(peer));
}

FERRY_VENDOR(Error_t) FERRY_VENDOR(DeviceGetMemPool)(FERRY_VENDOR(MemPool_t) * pool, int device) {
  return Give(simulated::GetPool(pool, device));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(MemPoolTrimTo)(FERRY_VENDOR(MemPool_t) pool, std::size_t kept) {
  simulated::Expect(kept == 0, __func__);
  return Give(SimRuntime::GiveUpFreedMemory(reinterpret_cast<const simulated::Pool*>(pool)->device));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(MemPoolSetAccess)
(FERRY_VENDOR(MemPool_t) pool, const FERRY_VENDOR(MemAccessDesc) * access, std::size_t count) {
  simulated::Expect(count == 1 && access->location.type == FERRY_VENDOR(MemLocationTypeDevice) &&
                        access->flags == FERRY_VENDOR(MemAccessFlagsProtReadWrite),
                    __func__);
  const int device = reinterpret_cast<const simulated::Pool*>(pool)->device;
  return Give(SimRuntime::OpenPool(device, access->location.id));
}

FERRY_VENDOR(Error_t) FERRY_VENDOR(Malloc)(void** ptr, std::size_t bytes) {
  return Give(SimRuntime::Malloc(ptr, bytes));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(MallocAsync)(void** ptr, std::size_t bytes, FERRY_VENDOR(Stream_t) on) {
  return Give(SimRuntime::MallocAsync(ptr, bytes, simulated::Queue(on)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(MallocManaged)(void** ptr, std::size_t bytes, unsigned flags) {
  simulated::Expect(flags == FERRY_VENDOR(MemAttachGlobal), __func__);
  return Give(SimRuntime::MallocManaged(ptr, bytes));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(Free)(void* ptr) { return Give(SimRuntime::Free(ptr)); }
FERRY_VENDOR(Error_t) FERRY_VENDOR(FreeAsync)(void* ptr, FERRY_VENDOR(Stream_t) on) {
  return Give(SimRuntime::FreeAsync(ptr, simulated::Queue(on)));
}

FERRY_VENDOR(Error_t)
FERRY_VENDOR(MemcpyAsync)
(void* dst, const void* src, std::size_t bytes, FERRY_VENDOR(MemcpyKind) kind, FERRY_VENDOR(Stream_t) on) {
  const bool to_device = kind == FERRY_VENDOR(MemcpyHostToDevice);
  const bool to_host = kind == FERRY_VENDOR(MemcpyDeviceToHost);
  simulated::Expect(to_device || to_host || kind == FERRY_VENDOR(MemcpyDeviceToDevice), __func__);
  const auto direction = to_device ? SimRuntime::kHostToDevice
                         : to_host ? SimRuntime::kDeviceToHost
                                   : SimRuntime::kDeviceToDevice;
  return Give(SimRuntime::MemcpyAsync(dst, src, bytes, direction, simulated::Queue(on)));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(MemsetAsync)(void* dst, int value, std::size_t bytes, FERRY_VENDOR(Stream_t) on) {
  return Give(SimRuntime::MemsetAsync(dst, value, bytes, simulated::Queue(on)));
}

FERRY_VENDOR(Error_t) FERRY_VENDOR(StreamCreateWithFlags)(FERRY_VENDOR(Stream_t) * stream, unsigned flags) {
  simulated::Expect(flags == FERRY_VENDOR(StreamNonBlocking), __func__);
  return Give(simulated::CreateStream(stream));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(StreamDestroy)(FERRY_VENDOR(Stream_t) stream) {
  return Give(SimRuntime::StreamDestroy(simulated::Queue(stream)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(StreamSynchronize)(FERRY_VENDOR(Stream_t) stream) {
  return Give(SimRuntime::StreamSynchronize(simulated::Queue(stream)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(StreamQuery)(FERRY_VENDOR(Stream_t) stream) {
  return Give(SimRuntime::StreamQuery(simulated::Queue(stream)));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(StreamWaitEvent)(FERRY_VENDOR(Stream_t) on, FERRY_VENDOR(Event_t) event, unsigned flags) {
  simulated::Expect(flags == 0, __func__);
  return Give(SimRuntime::StreamWaitEvent(simulated::Queue(on), simulated::Point(event)));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(StreamIsCapturing)(FERRY_VENDOR(Stream_t) stream, FERRY_VENDOR(StreamCaptureStatus) * status) {
  return Give(simulated::IsCapturing(stream, status, FERRY_VENDOR(StreamCaptureStatusNone),
                                     FERRY_VENDOR(StreamCaptureStatusActive)));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(StreamBeginCapture)(FERRY_VENDOR(Stream_t) stream, FERRY_VENDOR(StreamCaptureMode) mode) {
  return Give(simulated::BeginCapture(stream, mode));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(ThreadExchangeStreamCaptureMode)(FERRY_VENDOR(StreamCaptureMode) * mode) {
  return Give(simulated::ExchangeCaptureMode(mode));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(StreamEndCapture)(FERRY_VENDOR(Stream_t) stream, FERRY_VENDOR(Graph_t) * graph) {
  *graph = {};
  return Give(simulated::EndCapture(stream));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(GraphDestroy)(FERRY_VENDOR(Graph_t)) { return FERRY_VENDOR(Success); }

FERRY_VENDOR(Error_t) FERRY_VENDOR(EventCreateWithFlags)(FERRY_VENDOR(Event_t) * event, unsigned flags) {
  const bool measures = (flags & FERRY_VENDOR(EventDisableTiming)) == 0;
  simulated::Expect((flags | FERRY_VENDOR(EventDisableTiming)) == (FERRY_EVENT_FLAGS), __func__);
  return Give(simulated::CreateEvent(event, measures));
}
FERRY_VENDOR(Error_t)
FERRY_VENDOR(EventElapsedTime)(float* time, FERRY_VENDOR(Event_t) from, FERRY_VENDOR(Event_t) to) {
  return Give(SimRuntime::EventElapsedTime(time, simulated::Point(from), simulated::Point(to)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(EventRecord)(FERRY_VENDOR(Event_t) event, FERRY_VENDOR(Stream_t) on) {
  return Give(SimRuntime::EventRecord(simulated::Point(event), simulated::Queue(on)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(EventDestroy)(FERRY_VENDOR(Event_t) event) {
  return Give(SimRuntime::EventDestroy(simulated::Point(event)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(EventSynchronize)(FERRY_VENDOR(Event_t) event) {
  return Give(SimRuntime::EventSynchronize(simulated::Point(event)));
}
FERRY_VENDOR(Error_t) FERRY_VENDOR(EventQuery)(FERRY_VENDOR(Event_t) event) {
  return Give(SimRuntime::EventQuery(simulated::Point(event)));
}

}  // extern "C"
