// SPDX-License-Identifier: BSD-2-Clause
#include "sim_runtime.hpp"

#include <algorithm>
#include <utility>

#include "launch.hpp"
#include "machine.hpp"

namespace ferry::sim {
namespace {

using enum SimRuntime::Error;

Error Allocate(const Call& call, void** ptr, MemoryKind kind, std::size_t bytes, Lock& lock, Block*& block) {
  Error error = machine().Make(call, kind, bytes, CurrentDevice(), block, lock);
  if (error == kOutOfMemory && kind != MemoryKind::kDevice && machine().options.refuses_as_invalid)
    error = kInvalidValue;
  if (error == kSuccess) *ptr = block == nullptr ? nullptr : block->address;
  return error;
}

/// Not in a stream's order, and so not safe while one is under capture.
Error AllocateNow(const Call& call, void** ptr, MemoryKind kind, std::size_t bytes, Lock& lock) {
  if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
  Block* block = nullptr;
  return Allocate(call, ptr, kind, bytes, lock, block);
}
Error FreeNow(const Call& call, void* ptr, std::initializer_list<MemoryKind> kinds) {
  if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
  Block* block = nullptr;
  const Error error = machine().LocateToFree(call, ptr, kinds, block);
  if (error == kSuccess) machine().RetireNow(call, *block);
  return error;
}

}  // namespace

SimRuntime::Error SimRuntime::GetDevice(int* index) {
  return Enter(__func__, Faults::kQuery, [&](const Call&, Lock&) {
    *index = CurrentDevice();
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::SetDevice(int index) {
  return Enter(__func__, Faults::kQuery, [&](const Call& call, Lock&) {
    if (!machine().Has(index)) return machine().Misuse(call, "no such device", kInvalidDevice);
    SetCurrentDevice(index);
    machine().Current().context = true;
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::ContextIsActive(int index, bool* active) {
  return Enter(__func__, Faults::kQuery, [&](const Call& call, Lock&) {
    if (!machine().Has(index)) return machine().Misuse(call, "no such device", kInvalidDevice);
    *active = machine().devices[static_cast<std::size_t>(index)].context;
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::DeviceSynchronize() {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    if (const Error captured = machine().EndCapturesOf(call, CurrentDevice())) return captured;
    ++machine().report.host_waits;
    machine().WaitForAll(CurrentDevice(), lock);
    machine().Release();
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::Describe(int index, DeviceProperties& properties) {
  return Enter(__func__, Faults::kQuery, [&](const Call& call, Lock&) {
    if (!machine().Has(index)) return machine().Misuse(call, "no such device", kInvalidDevice);
    const Options& options = machine().options;
    properties.name = "Simulated GPU";
    properties.architecture = options.architecture;
    properties.memory = machine().device_memory();
    properties.wavefront = options.wavefront;
    properties.fine_kernels = options.fine_kernels;
    properties.memory_pools = options.memory_pools;
    properties.unified = machine().Unified(index);
    for (int peer = 0; peer < options.devices; ++peer)
      if (machine().Peers(index, peer)) properties.peers.push_back(peer);
    properties.main_stream = StreamHandle{Machine::kMainHandle};
    properties.thread_stream = kPerThreadStream;
    properties.launch = LaunchHostCode;
    return kSuccess;
  });
}

SimRuntime::Error SimRuntime::Malloc(void** ptr, std::size_t bytes) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    return AllocateNow(call, ptr, MemoryKind::kDevice, bytes, lock);
  });
}
SimRuntime::Error SimRuntime::MallocAsync(void** ptr, std::size_t bytes, Stream on) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    if (!machine().options.memory_pools) return machine().Misuse(call, "no memory pools", kNotSupported);
    const auto queue = machine().Ready(call, Number(on), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    Block* block = nullptr;
    const Error error = Allocate(call, ptr, MemoryKind::kDevice, bytes, lock, block);
    if (error == kOutOfMemory && machine().options.null_when_full) return *ptr = nullptr, kSuccess;
    if (error != kSuccess || block == nullptr) return error;
    block->born = false;
    machine().Push(queue,
                   {OpKind::kOrder, call, [block] { block->born = true; }, {{block, 0, bytes, false}}});
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::MallocHost(void** ptr, std::size_t bytes) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    return AllocateNow(call, ptr, MemoryKind::kPinnedHost, bytes, lock);
  });
}
SimRuntime::Error SimRuntime::MallocManaged(void** ptr, std::size_t bytes) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    return AllocateNow(call, ptr, MemoryKind::kManaged, bytes, lock);
  });
}
SimRuntime::Error SimRuntime::KeepFreedMemory(int) {
  return Enter("MemPoolSetAttribute", Faults::kQuery,
               [&](const Call& call, Lock&) { return machine().EndUnsafeCaptures(call); });
}
SimRuntime::Error SimRuntime::GiveUpFreedMemory(int) {
  return Enter("MemPoolTrimTo", Faults::kQuery,
               [&](const Call& call, Lock&) { return machine().EndUnsafeCaptures(call); });
}
SimRuntime::Error SimRuntime::OpenPool(int index, int reader) {
  return Enter("MemPoolSetAccess", Faults::kEither, [&](const Call& call, Lock&) {
    if (!machine().options.memory_pools) return machine().Misuse(call, "no memory pools", kNotSupported);
    if (!machine().Peers(reader, index)) return machine().Misuse(call, "no peer", kInvalidDevice);
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    machine().devices[static_cast<std::size_t>(index)].pool_readers.insert(reader);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::DeviceEnablePeerAccess(int peer) {
  return Enter(__func__, Faults::kQuery, [&](const Call& call, Lock&) {
    if (!machine().Peers(CurrentDevice(), peer)) return machine().Misuse(call, "no peer", kInvalidDevice);
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    machine().devices[static_cast<std::size_t>(peer)].context = true;
    return machine().Current().readable.insert(peer).second ? kSuccess : kPeerAccessAlreadyEnabled;
  });
}
SimRuntime::Error SimRuntime::PointerGetDevice(int* index, const void* ptr) {
  return Enter("PointerGetAttributes", Faults::kQuery, [&](const Call&, Lock&) {
    const Block* const block = machine().memory.Find(ptr);
    *index = block != nullptr ? block->device : -1;
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::FreeAsync(void* ptr, Stream on) {
  return Enter(__func__, Faults::kGivesBack, [&](const Call& call, Lock&) {
    if (!machine().options.memory_pools) return machine().Misuse(call, "no memory pools", kNotSupported);
    const auto queue = machine().Ready(call, Number(on), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    Block* block = nullptr;
    if (const Error error = machine().LocateToFree(call, ptr, {MemoryKind::kDevice}, block)) return error;
    machine().Push(queue, {OpKind::kFree, call, [call, block] { machine().Retire(call, *block); }});
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::FreeHost(void* ptr) {
  return Enter(__func__, Faults::kGivesBack,
               [&](const Call& call, Lock&) { return FreeNow(call, ptr, {MemoryKind::kPinnedHost}); });
}
SimRuntime::Error SimRuntime::Free(void* ptr) {
  return Enter(__func__, Faults::kGivesBack, [&](const Call& call, Lock&) {
    return FreeNow(call, ptr, {MemoryKind::kManaged, MemoryKind::kDevice});
  });
}

SimRuntime::Error SimRuntime::StreamCreate(Stream* stream) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    *stream = reinterpret_cast<Stream>(machine().MakeQueue(CurrentDevice(), call, lock)->handle);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::StreamDestroy(Stream stream) {
  return Enter(__func__, Faults::kGivesBack, [&](const Call& call, Lock&) {
    const auto queue = machine().Get(call, Number(stream), std::nullopt);
    if (queue == nullptr) return kInvalidHandle;
    if (queue->of_system) return machine().Misuse(call, "a default stream", kInvalidHandle);
    machine().Destroy(*queue);
    return kSuccess;
  });
}
bool SimRuntime::EventsNeedStream() {
  const Lock lock(machine().mutex);
  return machine().options.events_need_stream;
}
SimRuntime::Error SimRuntime::StreamSynchronize(Stream stream) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    const auto queue = machine().Ready(call, Number(stream), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    ++machine().report.host_waits;
    machine().WaitFor(Point(queue), lock);
    machine().Release();
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::StreamQuery(Stream stream) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    const auto queue = machine().Ready(call, Number(stream), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    if (queue->done != queue->queued) {
      machine().Advance(queue, lock);
      return kNotReady;
    }
    Point(queue).before.ShowToHost();
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::StreamWaitEvent(Stream on, Event event) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock&) {
    const auto queue = machine().Ready(call, Number(on), std::nullopt);  // devices may wait for each other
    const auto point = machine().PointOf(call, Number(event));
    if (queue == nullptr || !point) return kInvalidHandle;
    machine().PushWait(queue, call, *point);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::StreamIsCapturing(Stream stream, CaptureStatus* status) {
  return Enter(__func__, Faults::kQuery, [&](const Call& call, Lock&) {
    const auto queue = machine().Get(call, Number(stream), std::nullopt);
    if (queue == nullptr) return kInvalidHandle;
    if (queue->kind == QueueKind::kMain && machine().options.capture_spreads &&
        machine().HoldsMainUp(CurrentDevice()))
      return kStreamCaptureImplicit;
    *status = queue->capturing ? kCapturing : kNotCapturing;
    return kSuccess;
  });
}

SimRuntime::Error SimRuntime::ThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return Enter(__func__, Faults::kQuery, [&](const Call&, Lock&) {
    std::swap(*mode, ThreadCaptureMode());
    return kSuccess;
  });
}

}  // namespace ferry::sim
