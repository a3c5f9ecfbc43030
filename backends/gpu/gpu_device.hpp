// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backends/gpu/current_gpu.hpp"
#include "backends/gpu/describe.hpp"
#include "backends/gpu/gpu_runtime.hpp"
#include "backends/gpu/kept_blocks.hpp"
#include "backends/gpu/open_peers.hpp"
#include "backends/gpu/queues.hpp"
#include "backends/gpu/runtime_calls.hpp"
#include "ferry/device.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {

/// Device for any runtime shaped like CUDA's. Each call makes its device current and puts the caller's back.
template <GpuRuntime Runtime>
class GpuDevice : public Device {
 public:
  /// Makes no context: that is left to the first use.
  explicit GpuDevice(int index) : properties_(Describe<Runtime>(index)), peers_(properties_) {}

  /// By contract nothing is queued any more but what uses memory that was given back.
  ~GpuDevice() override {
    const auto kept = kept_.TakeAll();
    if (kept.empty() && !queues_.any()) return;  // a GPU that was never used gets no context now
    const IfPossible current(properties_.index);
    const RelaxedCapture<Runtime> relaxed;
    // First, as they may hold streams that were dropped under capture: those would keep the device from
    // waiting.
    for (const KeptBlocks::Block& block : kept)
      for (const EventHandle point : block.points) Release(point);
    const Error waited = kept.empty() ? Runtime::kSuccess : Runtime::DeviceSynchronize();
    Ignore(waited);
    if (waited != Runtime::kStreamCaptureUnsupported)  // else work may still use them: they are lost
      for (const KeptBlocks::Block& block : kept) FreeIdle(block.kind, block.ptr);
    queues_.DestroyAll();
  }

  const DeviceProperties& properties() const noexcept override { return properties_; }

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    if (bytes > kAddressable) throw OutOfMemory(OwnerOf<Runtime>(kind, properties_.index), bytes);
    const Current current(*this);
    void* ptr = nullptr;
    if (kind == MemoryKind::kDevice) RequireNotCapturing("MallocAsync", on);
    const RelaxedCapture<Runtime> relaxed;
    if (kind == MemoryKind::kDevice && properties_.memory_pools) {
      if (!keeps_freed_memory_)  // threads may do it at once
        Check("MemPoolSetAttribute", Runtime::KeepFreedMemory(properties_.index)), keeps_freed_memory_ = true;
      CheckAllocation("MallocAsync", kind, Runtime::MallocAsync(&ptr, bytes, Native(on)), &ptr, bytes);
      return ptr;
    }
    switch (kind) {
      case MemoryKind::kDevice:
        CheckAllocation("Malloc", kind, Runtime::Malloc(&ptr, bytes), &ptr, bytes);
        break;
      case MemoryKind::kPinnedHost:
        CheckAllocation("MallocHost", kind, Runtime::MallocHost(&ptr, bytes), &ptr, bytes);
        break;
      case MemoryKind::kManaged:
        CheckAllocation("MallocManaged", kind, Runtime::MallocManaged(&ptr, bytes), &ptr, bytes);
        break;
    }
    return ptr;
  }

  // Errors of what gives something back have nowhere to go: at exit the driver may be gone, and all with it.
  void Deallocate(MemoryKind kind, void* ptr, std::size_t, StreamHandle on) noexcept override {
    const IfPossible current(properties_.index);
    if (kind != MemoryKind::kDevice) return FreeRelaxed(kind, ptr);
    const bool can_queue = CanQueue(current, on);
    if (can_queue) ContinueKept(on);
    if (!can_queue || !FreeInOrder({kind, ptr, {}}, on)) kept_.Keep(kind, ptr, {&on, 1});
  }
  void Abandon(MemoryKind kind, void* ptr, std::size_t,
               std::span<const StreamHandle> users) noexcept override {
    const IfPossible current(properties_.index);
    kept_.Keep(kind, ptr, users);
    for (const StreamHandle on : users)
      if (CanQueue(current, on)) ContinueKept(on);
  }
  void Trim() override {
    if (!properties_.memory_pools) return;
    const Current current(*this);
    const RelaxedCapture<Runtime> relaxed;
    Check("MemPoolTrimTo", Runtime::GiveUpFreedMemory(properties_.index));
  }

  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    const Current current(*this);
    QueueCopy(kind, dst, src, bytes, on);
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    const Current current(*this);
    RequireNotCapturing("MemsetAsync", on);
    Check("MemsetAsync", Runtime::MemsetAsync(dst, std::to_integer<int>(value), bytes, Native(on)));
  }

  StreamHandle CreateStream() override {
    const Current current(*this);
    StreamHandle stream{};
    Check("StreamCreate", queues_.Create(stream));
    return stream;
  }
  void DestroyStream(StreamHandle stream) noexcept override {
    const IfPossible current(properties_.index);
    if (kept_.any() && CanQueue(current, stream)) ContinueKept(stream);
    kept_.Forget(stream);
    if (queues_.Destroy(stream)) Ignore(Runtime::StreamDestroy(Native(stream)));
  }
  void Synchronize(StreamHandle stream) override {
    const Current current(*this);
    RequireNotCapturing("StreamSynchronize", stream);
    const RelaxedCapture<Runtime> relaxed;
    Check("StreamSynchronize", Runtime::StreamSynchronize(Native(stream)));
  }

  EventHandle Record(StreamHandle on) override {
    const Current current(*this);
    return RecordHere(on, PointKind::kPlain);
  }
  EventHandle RecordMeasuring(StreamHandle on) override {
    const Current current(*this);
    return RecordHere(on, PointKind::kMeasuring);
  }
  std::int64_t Elapsed(EventHandle from, EventHandle to) override {
    const Current current(*this);
    std::int64_t nanoseconds = 0;
    const char* call = "";
    const Error error = Queues<Runtime>::Elapsed(from, to, nanoseconds, call);
    Check(call, error);
    return nanoseconds;
  }
  void Release(EventHandle event) noexcept final {
    const auto over = queues_.Release(event);
    if (!over) return;
    const IfPossible current(properties_.index);
    Ignore(Runtime::StreamDestroy(Native(*over)));
  }
  void StreamWait(StreamHandle on, EventHandle event) override {
    const Current current(*this);
    RequireNotCapturing("StreamWaitEvent", on);
    Check("StreamWaitEvent", Runtime::StreamWaitEvent(Native(on), Queues<Runtime>::Native(event)));
  }
  /// Works whichever device is current, as long as the thread has a context.
  void HostWait(EventHandle event) override {
    std::optional<Current> current;
    if (!CurrentGpu<Runtime>::ThreadHasContext()) current.emplace(*this);
    Check("EventSynchronize", Queues<Runtime>::Await(event));
  }

  bool Reached(EventHandle event) noexcept override {
    const IfPossible current(properties_.index);
    const RelaxedCapture<Runtime> relaxed;
    Error error = Runtime::EventQuery(Queues<Runtime>::Native(event));
    // Coarse-grained memory shows the host what was written when the host has synchronised, not when it
    // asked.
    if (error == Runtime::kSuccess) error = Runtime::EventSynchronize(Queues<Runtime>::Native(event));
    Ignore(error);
    return error == Runtime::kSuccess;
  }
  bool Pageable(const void* ptr) const noexcept override {
    const IfPossible current(properties_.index);
    return OwnerOf<Runtime>(ptr, properties_.index) < 0;
  }

  std::optional<EventHandle> CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                           StreamHandle on) override {
    const Current current(*this);
    QueueCopy(kind, dst, src, bytes, on);
    return RecordIfPossible(on);
  }
  void Order(std::span<const StreamHandle> before, StreamHandle then) override {
    const Current current(*this);
    RequireNotCapturing("StreamWaitEvent", then);
    for (const StreamHandle on : before) {
      const EventHandle point = RecordHere(on, PointKind::kBrief);
      const Error error = Runtime::StreamWaitEvent(Native(then), Queues<Runtime>::Native(point));
      Release(point);
      Check("StreamWaitEvent", error);
    }
  }

 protected:
  /// The GPU is another one from now on, and what was kept went with the old one. Throws DeviceError.
  void Renew() {
    properties_ = Describe<Runtime>(properties_.index);
    keeps_freed_memory_ = false;
    peers_.CloseAll(properties_);
    for (const KeptBlocks::Block& block : kept_.TakeAll())
      for (const EventHandle point : block.points) static_cast<void>(queues_.Release(point));
    queues_.Lose();
  }
  const Queues<Runtime>& queues() const noexcept { return queues_; }

 private:
  using Error = typename Runtime::Error;
  using IfPossible = CurrentGpu<Runtime>;
  /// The same, or a DeviceError.
  struct Current : IfPossible {
    explicit Current(const GpuDevice& device) : IfPossible(device.properties_.index) {
      device.Check(this->call(), this->error());
    }
  };

  /// In bytes, by any processor. Where a vendor rounds up, more could come to little.
  static constexpr std::size_t kAddressable = std::size_t{1} << 57;

  static typename Runtime::Stream Native(StreamHandle handle) noexcept {
    return gpu::Native<Runtime>(handle);
  }

  std::string name() const { return NameOf<Runtime>(properties_.index); }
  void Check(const char* call, Error error) const { gpu::Check<Runtime>(call, error, properties_.index); }
  /// Drivers refuse pinned and managed memory that is more than there can be as a wrong value, and nothing
  /// else that is asked of them here can be wrong.
  void CheckAllocation(const char* call, MemoryKind kind, Error error, void* const* made,
                       std::size_t bytes) const {
    const bool full = error == Runtime::kOutOfMemory ||
                      (kind != MemoryKind::kDevice && error == Runtime::kInvalidValue) ||
                      (error == Runtime::kSuccess && *made == nullptr);
    if (!full) return Check(call, error);
    (void)Runtime::GetLastError();
    throw OutOfMemory(OwnerOf<Runtime>(kind, properties_.index), bytes);
  }
  static void Ignore(Error error) noexcept { gpu::Ignore<Runtime>(error); }

  /// What was queued would become part of the graph, run again with it, and be over when nobody knows.
  void RequireNotCapturing(const char* call, StreamHandle on) {
    bool capturing = false;
    Check("StreamIsCapturing", AskCapturing<Runtime>(on, capturing));
    if (capturing)
      throw StreamCaptureError(properties_.backend + " " + call,
                               static_cast<int>(Runtime::kStreamCaptureUnsupported),
                               "the stream is under graph capture, on " + name());
    ContinueKept(on);
  }
  /// Whether `on` is not under capture. Where that can't be asked, it may be, or be another device's stream.
  static bool CanQueue(const IfPossible& current, StreamHandle on) noexcept {
    if (current.error() != Runtime::kSuccess) return false;
    bool capturing = false;
    const Error error = AskCapturing<Runtime>(on, capturing);
    Ignore(error);
    return error == Runtime::kSuccess && !capturing;
  }

  void QueueCopy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) {
    RequireNotCapturing("MemcpyAsync", on);
    if (kind == CopyKind::kDeviceToDevice) peers_.OpenFor(src);
    Check("MemcpyAsync", Runtime::MemcpyAsync(dst, src, bytes, DirectionOf<Runtime>(kind), Native(on)));
  }
  EventHandle RecordHere(StreamHandle on, PointKind kind) {
    RequireNotCapturing("EventRecord", on);
    EventHandle point{};
    const char* call = "";
    const Error error = queues_.Record(on, kind, point, call);
    Check(call, error);
    return point;
  }

  /// What was kept for a capture that is over goes back.
  void ContinueKept(StreamHandle on) noexcept {
    if (!kept_.any()) return;
    kept_.Continue(
        on, [&](StreamHandle user) { return RecordIfPossible(user); },
        [&](const KeptBlocks::Block& block, StreamHandle user) { return FreeInOrder(block, user); });
  }
  /// Nothing where there is no room for the note of a point, either.
  std::optional<EventHandle> RecordIfPossible(StreamHandle on) noexcept try {
    EventHandle point{};
    const char* call = "";
    const Error error = queues_.Record(on, PointKind::kPlain, point, call);
    Ignore(error);
    return error == Runtime::kSuccess ? std::optional(point) : std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
  /// After the block's points and the work on `on`. False where a wait that it takes has failed.
  bool FreeInOrder(const KeptBlocks::Block& block, StreamHandle on) noexcept {
    const bool queued = block.kind == MemoryKind::kDevice && properties_.memory_pools;
    const RelaxedCapture<Runtime> relaxed;
    Error error = Runtime::kSuccess;
    for (const EventHandle point : block.points)
      if (error == Runtime::kSuccess)
        error = Runtime::StreamWaitEvent(Native(on), Queues<Runtime>::Native(point));
    if (error == Runtime::kSuccess && !queued) error = Runtime::StreamSynchronize(Native(on));
    Ignore(error);
    if (error != Runtime::kSuccess) return false;
    if (queued)
      Ignore(Runtime::FreeAsync(block.ptr, Native(on)));
    else
      FreeIdle(block.kind, block.ptr);
    for (const EventHandle point : block.points) Release(point);
    return true;
  }
  static void FreeRelaxed(MemoryKind kind, void* ptr) noexcept {
    const RelaxedCapture<Runtime> relaxed;
    FreeIdle(kind, ptr);
  }
  static void FreeIdle(MemoryKind kind, void* ptr) noexcept {
    Ignore(kind == MemoryKind::kPinnedHost ? Runtime::FreeHost(ptr) : Runtime::Free(ptr));
  }

  DeviceProperties properties_;
  std::atomic<bool> keeps_freed_memory_{false};
  Queues<Runtime> queues_{properties_.main_stream};
  KeptBlocks kept_;
  OpenPeers<Runtime> peers_;
};

}  // namespace ferry::gpu
