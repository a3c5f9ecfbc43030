// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include "ferry/backend.hpp"
#include "ferry/coherence.hpp"
#include "ferry/detail/use_list.hpp"
#include "ferry/device.hpp"
#include "ferry/stream.hpp"

namespace ferry {

/// Bytes that live on the CPU, on the GPU, or on both, copied only when they must be: Caffe's SyncedMemory,
/// with streams and with accesses that overwrite. Accesses are put in order, and no call ends one.
///
/// Memory is allocated by the first access on a side; bytes that nobody wrote read as zeros. A CPU pointer is
/// current when it is returned. A GPU pointer is current for work queued after the call on the stream that it
/// was asked for, and such an access lasts until that work is queued: what comes next waits for it. Two
/// kinds of access block the host: those on the CPU, and the first one on the GPU to bytes given by
/// set_cpu_data, which returns when they have been read, as Caffe's does.
///
/// Concurrent const accesses are safe; a non-const one excludes all others, up to the end of both. Every call
/// can throw DeviceError, OutOfMemory (or std::bad_alloc, if the host has no memory for its lists), and
/// std::invalid_argument for a stream of another device. One that throws leaves the bytes as they were, and
/// can be made again. At most it has allocated a side or started a copy to it, which head() shows; Assign
/// alone can lose what it would replace, as it says. Pointers stay the same for life, except those that
/// set_*_data replaces, and may be null while size is 0.
class SyncedMemory {
 public:
  using SyncedHead = Head;
  // Members, where `using enum` would do: in a template, that ends g++ 12 in an internal error.
  static constexpr Head UNINITIALIZED = Head::UNINITIALIZED;
  static constexpr Head HEAD_AT_CPU = Head::HEAD_AT_CPU;
  static constexpr Head HEAD_AT_GPU = Head::HEAD_AT_GPU;
  static constexpr Head SYNCED = Head::SYNCED;

  SyncedMemory() : SyncedMemory(0) {}
  /// `size` is in bytes. The device must outlive the memory.
  explicit SyncedMemory(std::size_t size, Device& device = DefaultDevice());
  ~SyncedMemory();
  SyncedMemory(const SyncedMemory&) = delete;
  SyncedMemory& operator=(const SyncedMemory&) = delete;

  const void* cpu_data() const {
    if (void* ptr = cpu_ready_.load(std::memory_order_acquire)) [[likely]]
      return ptr;
    return Reach(Side::kCpu, Access::kRead, main_);
  }
  const void* gpu_data(const Stream& on) const {
    if (gpu_ready_.load(std::memory_order_acquire) == on.handle() && &on.device() == &device_) [[likely]]
      return gpu_.ptr;
    return Reach(Side::kGpu, Access::kRead, on);
  }
  void* mutable_cpu_data() { return Write(Side::kCpu, Access::kReadWrite, main_); }
  void* mutable_gpu_data(const Stream& on) { return Write(Side::kGpu, Access::kReadWrite, on); }
  /// For a caller that writes every byte: no copy, no zeroing.
  void* overwrite_cpu_data() { return Write(Side::kCpu, Access::kOverwrite, main_); }
  void* overwrite_gpu_data(const Stream& on) { return Write(Side::kGpu, Access::kOverwrite, on); }

  const void* gpu_data() const { return gpu_data(main_); }
  void* mutable_gpu_data() { return mutable_gpu_data(main_); }
  void* overwrite_gpu_data() { return overwrite_gpu_data(main_); }

  using Deleter = std::function<void(void*)>;
  /// Use the caller's bytes, size() of them, from now on; the caller keeps owning them. The next set_*_data
  /// of that side, or the destructor, gives them back: host bytes when it returns, device bytes in the main
  /// stream's order. The capacity becomes size(). With a deleter, ownership passes to the memory if the call
  /// returns, and the deleter, which must neither throw nor use the memory, is called when the bytes would be
  /// given back. Work may use device bytes then: their deleter must free them after all that is queued on the
  /// main stream, as cudaFreeAsync does there, or wait for it, as cudaFree does. On a unified device the
  /// bytes must be such as both sides can use, and no work uses them when the deleter is called. Throws
  /// std::invalid_argument for a null pointer and for one that this memory Owns, and StreamCaptureError while
  /// a stream that uses the old bytes is under graph capture.
  void set_cpu_data(void* ptr, Deleter deleter = {});
  /// `on` is the stream whose queued work writes the bytes.
  void set_gpu_data(void* ptr, const Stream& on, Deleter deleter = {});
  void set_gpu_data(void* ptr, Deleter deleter = {}) { set_gpu_data(ptr, main_, std::move(deleter)); }

  /// Whether `ptr` is to bytes that this memory gives back to their owner: those that it has allocated, and
  /// those that came with a deleter. Does not throw.
  bool Owns(const void* ptr) const noexcept;

  /// Start on `on` what a read of `side` would need, and do not wait for it. The next access does.
  void Prefetch(Side side, const Stream& on) const;
  /// Caffe's name for Prefetch(kGpu, on) of bytes that only the CPU has; elsewhere a std::logic_error.
  void async_gpu_push(const Stream& on);

  /// The sides that hold the current bytes, or have them on their way.
  Head head() const noexcept { return head_.load(std::memory_order_relaxed); }
  /// In bytes: what is in use, and so what copies move.
  std::size_t size() const noexcept { return size_; }
  /// In bytes: what the first access of a side allocates.
  std::size_t capacity() const noexcept { return capacity_; }
  Device& device() const noexcept { return device_; }

  /// Keeps the first min(size(), size) bytes; those that are added read as zeros. No pointer changes, nothing
  /// is copied, allocated or waited for. Counts as a non-const access. Throws std::length_error beyond the
  /// capacity.
  void Resize(std::size_t size);
  /// What becomes of the bytes beyond those that Assign copies.
  enum class Rest : std::uint8_t { kDropped, kKept };
  /// Takes the first `size` bytes of `source`, another memory, which has at least as many. The size becomes
  /// `size`; with Rest::kKept a larger size stays, and so do the bytes beyond. Copied where they are, on the
  /// main stream if that is the GPU or both sides; between devices, and for bytes given to a unified device,
  /// by way of the host. Counts as a non-const access, and as a read of `source`. One that throws leaves the
  /// bytes as they were, except where only the GPU, or a unified device's one buffer, had them and the device
  /// has made a copy that it says failed. Throws std::length_error beyond the capacity.
  void Assign(const SyncedMemory& source, std::size_t size, Rest rest = Rest::kDropped);

 private:
  struct Buffer {
    MemoryKind kind;
    void* ptr = nullptr;
    std::size_t allocated = 0;  ///< what the device gets back, in bytes; 0 where the bytes are adopted
    std::size_t extent = 0;     ///< bytes that have been written; those from there to size_ read as zeros
    Deleter deleter{};          ///< of adopted bytes that are ours
    detail::UseList uses{};
    bool adopted() const noexcept { return ptr != nullptr && allocated == 0; }
  };
  struct Step;
  struct Locked;

  void* Write(Side side, Access access, const Stream& on) {
    if (sole_ == (side == Side::kCpu ? StreamHandle::kHost : on.handle()) && &on.device() == &device_)
        [[likely]]
      return buffer(side).ptr;
    return Reach(side, access, on);
  }
  void* Reach(Side side, Access access, const Stream& on) const;
  Step Arrive(Side side, Access access, const Stream& on, Locked& held) const;
  std::size_t Transfer(Side to, const Stream& on, Locked& held) const;
  void FillTail(const Stream& on, Locked& held) const;
  void HostArrives(Buffer& here, Access access, Locked& held) const;
  static bool HostAwaits(Buffer& buffer, Access access, Locked& held);
  void Publish(Side side, Access access, const Stream& on) const;
  void Adopt(Side side, void* ptr, Deleter deleter, const Stream& on);
  void Allocate(Buffer& buffer, const Stream& on) const;
  void Release(Buffer& buffer) noexcept;
  void Abandon(Buffer& buffer, const Stream& on) noexcept;
  void RequireRoom(std::size_t size, const char* call) const;
  void RequireOurs(const Stream& on, const char* call) const;
  Buffer& buffer(Side side) const noexcept { return side == Side::kGpu || unified_ ? gpu_ : cpu_; }

  // What an access in place looks at. gpu_ready_ == s means: the bytes are there, s is ordered after
  // their last write, and gpu_.uses has an entry for s without a point.
  mutable std::atomic<void*> cpu_ready_{nullptr};
  mutable std::atomic<StreamHandle> gpu_ready_{StreamHandle::kNone};
  mutable StreamHandle sole_ = StreamHandle::kNone;  ///< who accessed last, if that was a write
  mutable std::atomic<Head> head_{UNINITIALIZED};

  Device& device_;
  std::size_t size_;
  std::size_t capacity_;
  const bool unified_;  ///< one buffer serves both sides, and nothing is ever copied
  const Stream main_;
  mutable std::mutex mutex_;  ///< guards what follows, and `sole_`; never held while the host waits
  mutable Buffer cpu_{MemoryKind::kPinnedHost};
  mutable Buffer gpu_;
};

}  // namespace ferry
