// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "backends/gpu/gpu_runtime.hpp"
#include "ferry/device.hpp"
#include "ferry/error.hpp"

namespace ferry::gpu {

/// Device for any runtime shaped like CUDA's. Each call makes its device current and puts the caller's back.
template <GpuRuntime Runtime>
class GpuDevice final : public Device {
 public:
  explicit GpuDevice(int index) {
    properties_.backend = Runtime::kName;
    properties_.index = index;
    const Current current(*this);
    Check("Describe", Runtime::Describe(index, properties_));
  }

  /// By contract nothing is queued any more but what uses memory that was given back.
  ~GpuDevice() override {
    const CurrentIfPossible current(properties_.index);
    for (const Kept& block : kept_) FreeWhenIdle(block.ptr);
  }

  const DeviceProperties& properties() const noexcept override { return properties_; }

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    if (bytes > kAddressable) throw OutOfMemory(name(), bytes);
    const Current current(*this);
    void* ptr = nullptr;
    switch (kind) {
      case MemoryKind::kDevice:
        RequireNotCapturing("MallocAsync", on);
        FreeKept(on);
        if (properties_.memory_pools)
          CheckAllocation("MallocAsync", Runtime::MallocAsync(&ptr, bytes, Native(on)), &ptr, bytes);
        else
          CheckAllocation("Malloc", Runtime::Malloc(&ptr, bytes), &ptr, bytes);
        break;
      case MemoryKind::kPinnedHost:
        CheckAllocation("MallocHost", Runtime::MallocHost(&ptr, bytes), &ptr, bytes);
        break;
      case MemoryKind::kManaged:
        CheckAllocation("MallocManaged", Runtime::MallocManaged(&ptr, bytes), &ptr, bytes);
        break;
    }
    return ptr;
  }

  // Errors of what gives something back have nowhere to go: at exit the driver may be gone, and all with it.
  void Deallocate(MemoryKind kind, void* ptr, std::size_t, StreamHandle on) noexcept override {
    const CurrentIfPossible current(properties_.index);
    switch (kind) {
      case MemoryKind::kDevice:
        FreeKept(on);
        if (!FreeInOrder(ptr, on)) Keep(ptr, on);
        break;
      case MemoryKind::kPinnedHost:
        Ignore(Runtime::FreeHost(ptr));
        break;
      case MemoryKind::kManaged:
        Ignore(Runtime::Free(ptr));
        break;
    }
  }

  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    const Current current(*this);
    RequireNotCapturing("MemcpyAsync", on);
    const auto direction = kind == CopyKind::kHostToDevice   ? Runtime::kHostToDevice
                           : kind == CopyKind::kDeviceToHost ? Runtime::kDeviceToHost
                                                             : Runtime::kDeviceToDevice;
    Check("MemcpyAsync", Runtime::MemcpyAsync(dst, src, bytes, direction, Native(on)));
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    const Current current(*this);
    RequireNotCapturing("MemsetAsync", on);
    Check("MemsetAsync", Runtime::MemsetAsync(dst, std::to_integer<int>(value), bytes, Native(on)));
  }

  StreamHandle CreateStream() override {
    const Current current(*this);
    typename Runtime::Stream stream{};
    Check("StreamCreate", Runtime::StreamCreate(&stream));
    return StreamHandle{reinterpret_cast<std::uintptr_t>(stream)};
  }
  void DestroyStream(StreamHandle stream) noexcept override {
    const CurrentIfPossible current(properties_.index);
    FreeKept(stream);
    Ignore(Runtime::StreamDestroy(Native(stream)));
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const Kept& block) {
      if (block.on != stream) return false;
      FreeWhenIdle(block.ptr);
      return true;
    });
  }
  void Synchronize(StreamHandle stream) override {
    const Current current(*this);
    RequireNotCapturing("StreamSynchronize", stream);
    Check("StreamSynchronize", Runtime::StreamSynchronize(Native(stream)));
  }

  EventHandle Record(StreamHandle on) override {
    const Current current(*this);
    RequireNotCapturing("EventRecord", on);
    typename Runtime::Event event{};
    Check("EventCreate", Runtime::EventCreate(&event));
    if (const auto error = Runtime::EventRecord(event, Native(on)); error != Runtime::kSuccess) {
      Ignore(Runtime::EventDestroy(event));
      Check("EventRecord", error);
    }
    return EventHandle{reinterpret_cast<std::uintptr_t>(event)};
  }
  void Release(EventHandle event) noexcept override {
    const CurrentIfPossible current(properties_.index);
    Ignore(Runtime::EventDestroy(Native(event)));
  }
  void StreamWait(StreamHandle on, EventHandle event) override {
    const Current current(*this);
    RequireNotCapturing("StreamWaitEvent", on);
    Check("StreamWaitEvent", Runtime::StreamWaitEvent(Native(on), Native(event)));
  }
  void HostWait(EventHandle event) override {
    const Current current(*this);
    Check("EventSynchronize", Runtime::EventSynchronize(Native(event)));
  }

 private:
  using Error = typename Runtime::Error;

  /// In bytes, by any processor. Where a vendor rounds up, more could come to little.
  static constexpr std::size_t kAddressable = std::size_t{1} << 57;

  /// Makes a device the calling thread's current one, where the driver still does so, and puts the old one
  /// back.
  class CurrentIfPossible {
   public:
    explicit CurrentIfPossible(int index) noexcept {
      if (error_ = Runtime::GetDevice(&previous_); error_ != Runtime::kSuccess) {
        call_ = "GetDevice";
      } else if (previous_ != index) {
        call_ = "SetDevice";
        error_ = Runtime::SetDevice(index);
        changed_ = error_ == Runtime::kSuccess;
      }
      if (error_ != Runtime::kSuccess) (void)Runtime::GetLastError();
    }
    ~CurrentIfPossible() {
      if (changed_) Ignore(Runtime::SetDevice(previous_));
    }
    CurrentIfPossible(const CurrentIfPossible&) = delete;
    CurrentIfPossible& operator=(const CurrentIfPossible&) = delete;

    const char* call() const noexcept { return call_; }
    Error error() const noexcept { return error_; }

   private:
    const char* call_ = "";
    Error error_{};
    int previous_ = 0;
    bool changed_ = false;
  };
  /// The same, or a DeviceError.
  struct Current : CurrentIfPossible {
    explicit Current(const GpuDevice& device) : CurrentIfPossible(device.properties_.index) {
      device.Check(this->call(), this->error());
    }
  };

  static typename Runtime::Stream Native(StreamHandle handle) noexcept {
    return reinterpret_cast<typename Runtime::Stream>(handle);
  }
  static typename Runtime::Event Native(EventHandle handle) noexcept {
    return reinterpret_cast<typename Runtime::Event>(handle);
  }

  std::string name() const { return properties_.backend + ":" + std::to_string(properties_.index); }
  [[noreturn]] void Throw(const char* call, Error error, const std::string& text) const {
    throw DeviceError(properties_.backend + " " + call, static_cast<int>(error), text + ", on " + name());
  }
  void Check(const char* call, Error error) const {
    if (error == Runtime::kSuccess) return;
    (void)Runtime::GetLastError();
    Throw(call, error, std::string(Runtime::GetErrorName(error)) + ", " + Runtime::GetErrorString(error));
  }
  void CheckAllocation(const char* call, Error error, void* const* made, std::size_t bytes) const {
    const bool refused = error == Runtime::kOutOfMemory || (error == Runtime::kSuccess && *made == nullptr);
    if (!refused) return Check(call, error);
    (void)Runtime::GetLastError();
    throw OutOfMemory(name(), bytes);
  }
  /// Else somebody's next look at the last error would find ours.
  static void Ignore(Error error) noexcept {
    if (error != Runtime::kSuccess) (void)Runtime::GetLastError();
  }

  /// What was queued would become part of the graph, run again with it, and be over when nobody knows.
  void RequireNotCapturing(const char* call, StreamHandle on) const {
    bool capturing = false;
    Check("StreamIsCapturing", AskCapturing(on, capturing));
    if (capturing) Throw(call, Runtime::kStreamCaptureUnsupported, "the stream is under graph capture");
  }
  static bool Capturing(StreamHandle on) noexcept {
    bool capturing = false;
    Ignore(AskCapturing(on, capturing));
    return capturing;
  }
  /// The legacy stream waits for blocking streams: while one of them is under capture, it is as good as
  /// captured.
  static Error AskCapturing(StreamHandle on, bool& capturing) noexcept {
    typename Runtime::CaptureStatus status = Runtime::kNotCapturing;
    const Error error = Runtime::StreamIsCapturing(Native(on), &status);
    capturing = error == Runtime::kStreamCaptureImplicit || status != Runtime::kNotCapturing;
    if (error != Runtime::kStreamCaptureImplicit) return error;
    (void)Runtime::GetLastError();
    return Runtime::kSuccess;
  }

  /// A block that can't be given back yet. One freed on a stream under capture is kept until that is over: a
  /// free would join the graph, and the waits that other ways need would end the capture.
  struct Kept {
    void* ptr;
    StreamHandle on;
  };
  void Keep(void* ptr, StreamHandle on) noexcept try {
    const std::lock_guard lock(mutex_);
    kept_.push_back({ptr, on});
  } catch (...) {
    // With no host memory for the note, the block is lost; to wait here would end the caller's capture.
  }
  /// Gives back what it can by now of a stream that a caller names. Others, if borrowed, may be gone.
  void FreeKept(StreamHandle on) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const Kept& block) { return block.on == on && FreeInOrder(block.ptr, on); });
  }
  /// False where it is not the time: during a capture, and where a wait that it takes has failed.
  bool FreeInOrder(void* ptr, StreamHandle on) const noexcept {
    if (Capturing(on)) return false;
    if (properties_.memory_pools) {
      Ignore(Runtime::FreeAsync(ptr, Native(on)));
      return true;
    }
    if (const Error error = Runtime::StreamSynchronize(Native(on)); error != Runtime::kSuccess) {
      Ignore(error);
      return false;
    }
    Ignore(Runtime::Free(ptr));
    return true;
  }
  static void FreeWhenIdle(void* ptr) noexcept {
    Ignore(Runtime::DeviceSynchronize());
    Ignore(Runtime::Free(ptr));
  }

  DeviceProperties properties_;
  std::mutex mutex_;  ///< guards kept_
  std::vector<Kept> kept_;
};

}  // namespace ferry::gpu
