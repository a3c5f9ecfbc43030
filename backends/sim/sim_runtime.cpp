// SPDX-License-Identifier: BSD-2-Clause
#include "sim_runtime.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "launch.hpp"
#include "machine.hpp"

namespace ferry::sim {
namespace {

using enum SimRuntime::Error;

Machine& machine() { return Machine::The(); }
std::uintptr_t Number(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// A queue that work may go to, or nullptr and the misuse is noted.
std::shared_ptr<Queue> Ready(const Call& call, SimRuntime::Stream stream,
                             std::optional<int> device = CurrentDevice()) {
  auto queue = machine().Get(call, Number(stream), device);
  if (queue != nullptr && queue->capturing) {
    machine().Misuse(call, "a stream under capture");
    return nullptr;
  }
  return queue;
}

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

bool OnDevice(const Block* block) { return block != nullptr && block->kind == MemoryKind::kDevice; }

/// Managed memory is on either side.
bool Fits(const Block* dst, const Block* src, SimRuntime::Direction direction) {
  const auto fits = [](const Block* block, bool device) {
    return (block != nullptr && block->kind == MemoryKind::kManaged) || OnDevice(block) == device;
  };
  return fits(dst, direction != SimRuntime::kDeviceToHost) &&
         fits(src, direction != SimRuntime::kHostToDevice);
}

bool Overlap(const void* a, const void* b, std::size_t bytes) {
  return std::max(Number(a), Number(b)) - std::min(Number(a), Number(b)) < bytes;
}

std::size_t Offset(const Block& block, const void* ptr) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(ptr) - block.address);
}

Error LocateOnCurrent(const Call& call, const void* ptr, std::size_t bytes, Block*& found) {
  const Error error = machine().Locate(call, ptr, bytes, found);
  if (error == kSuccess && OnDevice(found) && found->device != CurrentDevice())
    return machine().Misuse(call, "memory of another device, made by " + found->made.text());
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
    if (machine().AnyCapturing(CurrentDevice()))
      return machine().Misuse(call, "a stream is under capture", kStreamCaptureUnsupported);
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
    properties.memory_pools = options.memory_pools;
    properties.unified = options.unified;
    properties.main_stream = StreamHandle{Machine::MainHandle(index)};
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
    const auto queue = Ready(call, on);
    if (queue == nullptr) return kInvalidHandle;
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
SimRuntime::Error SimRuntime::KeepFreedMemory(int) { return kSuccess; }
SimRuntime::Error SimRuntime::GiveUpFreedMemory(int) { return kSuccess; }
SimRuntime::Error SimRuntime::FreeAsync(void* ptr, Stream on) {
  return Enter(__func__, Faults::kGivesBack, [&](const Call& call, Lock&) {
    if (!machine().options.memory_pools) return machine().Misuse(call, "no memory pools", kNotSupported);
    const auto queue = Ready(call, on);
    if (queue == nullptr) return kInvalidHandle;
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

SimRuntime::Error SimRuntime::MemcpyAsync(void* dst, const void* src, std::size_t bytes, Direction direction,
                                          Stream on) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    const auto queue = Ready(call, on);
    if (queue == nullptr) return kInvalidHandle;
    if (bytes == 0 && machine().options.zero_bytes) return kSuccess;
    Block *to = nullptr, *from = nullptr;
    if (const Error error = LocateOnCurrent(call, dst, bytes, to)) return error;
    if (const Error error = LocateOnCurrent(call, src, bytes, from)) return error;
    if (!Fits(to, from, direction)) return machine().Misuse(call, "wrong direction");
    if (Overlap(dst, src, bytes)) return machine().Misuse(call, "source and destination overlap");
    ++machine().report.copies;
    void* const target = machine().memory.Reach(to, dst);
    const void* source = machine().memory.Reach(from, const_cast<void*>(src));
    const bool late = machine().options.pageable_late;
    Op op{OpKind::kWork, call};
    if (from != nullptr) op.uses.push_back({from, Offset(*from, src), Offset(*from, src) + bytes, false});
    if (to != nullptr) op.uses.push_back({to, Offset(*to, dst), Offset(*to, dst) + bytes, true});
    if (from == nullptr && !late) {
      const auto* const first = static_cast<const std::byte*>(src);
      op.body = [=, staged = std::vector<std::byte>(first, first + bytes)] {
        machine().Write(to, target, staged.data(), bytes);
      };
    } else {
      op.body = [=] {
        if (!OnDevice(from)) machine().Release();
        machine().Write(to, target, source, bytes);
      };
    }
    machine().Push(queue, std::move(op));
    if ((to == nullptr || from == nullptr) && machine().options.pageable_serialises)
      machine().WaitForAll(CurrentDevice(), lock);
    else if (to == nullptr && !late)
      machine().WaitFor(Point(queue), lock);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::MemsetAsync(void* dst, int value, std::size_t bytes, Stream on) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock&) {
    const auto queue = Ready(call, on);
    if (queue == nullptr) return kInvalidHandle;
    Block* block = nullptr;
    if (const Error error = LocateOnCurrent(call, dst, bytes, block)) return error;
    if (block == nullptr) return machine().Misuse(call, "memory that is not the device's");
    void* const target = machine().memory.Reach(block, dst);
    const auto fill = [=] {
      if (OnDevice(block)) return void(std::memset(target, value, bytes));
      const std::vector<std::byte> all(bytes, static_cast<std::byte>(value));
      machine().Write(block, target, all.data(), bytes);
    };
    const std::size_t first = Offset(*block, dst);
    machine().Push(queue, {OpKind::kWork, call, fill, {{block, first, first + bytes, true}}});
    return kSuccess;
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
    if (queue->main) return machine().Misuse(call, "a main stream", kInvalidHandle);
    machine().Destroy(*queue);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::StreamSynchronize(Stream stream) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    const auto queue = Ready(call, stream);
    if (queue == nullptr) return kInvalidHandle;
    if (machine().options.waits_end_captures)
      if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    ++machine().report.host_waits;
    machine().WaitFor(Point(queue), lock);
    machine().Release();
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::StreamQuery(Stream stream) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock& lock) {
    const auto queue = Ready(call, stream);
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
    const auto queue = Ready(call, on, std::nullopt);  // devices may wait for each other
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
    if (queue->main && machine().options.capture_spreads && machine().AnyCapturing(CurrentDevice()))
      return kStreamCaptureImplicit;
    *status = machine().IsCapturing(Number(stream)) ? kCapturing : kNotCapturing;
    return kSuccess;
  });
}

SimRuntime::Error SimRuntime::ThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return Enter(__func__, Faults::kQuery, [&](const Call&, Lock&) {
    std::swap(*mode, ThreadCaptureMode());
    return kSuccess;
  });
}

SimRuntime::Error SimRuntime::EventCreate(Event* event) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock&) {
    *event = reinterpret_cast<Event>(machine().MakeEvent(CurrentDevice(), call));
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventRecord(Event event, Stream on) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock&) {
    const auto queue = Ready(call, on);
    if (queue == nullptr) return kInvalidHandle;
    Machine::EventState* const found = machine().FindEvent(call, Number(event));
    if (found == nullptr) return kInvalidHandle;
    if (found->device != queue->device)
      return machine().Misuse(call, "an event of another device than the stream", kInvalidHandle);
    found->at = Point(queue);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventDestroy(Event event) {
  return Enter(__func__, Faults::kGivesBack, [&](const Call& call, Lock&) {
    if (machine().FindEvent(call, Number(event)) == nullptr) return kInvalidHandle;
    machine().DestroyEvent(Number(event));
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventSynchronize(Event event) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    const auto point = machine().PointOf(call, Number(event));
    if (!point) return kInvalidHandle;
    if (machine().options.events_need_stream && point->position.queue->destroyed)
      return machine().Misuse(call, "an event of a stream that was destroyed", kInvalidHandle);
    if (machine().options.waits_end_captures)
      if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    ++machine().report.host_waits;
    machine().WaitFor(*point, lock);
    machine().Release();
    return kSuccess;
  });
}

}  // namespace ferry::sim
