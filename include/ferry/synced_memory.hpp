// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ferry/backend.hpp"
#include "ferry/byte_range.hpp"
#include "ferry/coherence.hpp"
#include "ferry/detail/buffer.hpp"
#include "ferry/detail/dependents.hpp"
#include "ferry/detail/range_map.hpp"
#include "ferry/detail/ready_words.hpp"
#include "ferry/device.hpp"
#include "ferry/site.hpp"
#include "ferry/stream.hpp"

namespace ferry {

/// Bytes that live on the host, on one GPU or on several, copied only when they must be: Caffe's
/// SyncedMemory, with streams, with accesses that overwrite, and with accesses of a part. No call ends an
/// access.
///
/// Memory of the whole size is allocated by the first access in a space (the host, or the device of the
/// stream that an access names); bytes that nobody wrote read as zeros. A host pointer is current when it is
/// returned. A GPU pointer is current for work queued after the call on the stream that it was asked for, and
/// such an access lasts until that work is queued: what comes next waits for it. An access with a ByteRange
/// fetches, changes and waits for these bytes alone, and returns the pointer to the first of them. Host
/// accesses block the host. On a GPU some do, too, such as the first one of bytes given by set_cpu_data,
/// which, like Caffe's, has read them when it returns; docs/explanation/order.md lists them.
///
/// Concurrent const accesses are safe, and so are non-const ones of disjoint ranges; a non-const one excludes
/// all others of the same bytes until both have ended. Every call can throw DeviceError, OutOfMemory (or
/// std::bad_alloc, where its notes have no room), and std::out_of_range for a range beyond size(). One that
/// throws leaves the bytes as they were, and can be made again. At most it has allocated memory in a space or
/// started a copy to it, which head() shows. Only a failed Assign can lose bytes: those that it was to
/// replace. A memory's 32nd device is a std::length_error. Pointers stay the same for life, except those that
/// set_*_data replaces and Release takes back. They may be null while size is 0.
class SyncedMemory : private detail::ReadyWords {
 public:
  using SyncedHead = Head;  ///< Caffe's name
  // Members, where `using enum` would do: in a template, that ends g++ 12 in an internal error.
  static constexpr Head UNINITIALIZED = Head::UNINITIALIZED;  ///< Caffe has the names here, too
  static constexpr Head HEAD_AT_CPU = Head::HEAD_AT_CPU;      ///< as Head
  static constexpr Head HEAD_AT_GPU = Head::HEAD_AT_GPU;      ///< as Head
  static constexpr Head SYNCED = Head::SYNCED;                ///< as Head

  explicit SyncedMemory(Site site = Site::Caller())
      : SyncedMemory(0, DefaultDevice(), {}, site) {}  ///< no bytes
  /// `size` is in bytes. The device must outlive the memory, and so must each other one whose streams access
  /// it; a memory that outlives one logs an error at its end and gives nothing back. The label names the
  /// memory in errors and traces.
  explicit SyncedMemory(std::size_t size, Device& device = DefaultDevice(), std::string label = {},
                        Site site = Site::Caller());
  ~SyncedMemory();
  SyncedMemory(const SyncedMemory&) = delete;
  SyncedMemory& operator=(const SyncedMemory&) = delete;

  /// The bytes for the host to read; it has waited for them.
  const void* cpu_data(Site site = Site::Caller()) const {
    if (void* ptr = cpu_ready_.load(std::memory_order_acquire)) [[likely]]
      return ptr;
    return Reach(nullptr, Access::kRead, site.file(), site.function(), site.line());
  }
  /// The bytes for work on `on` to read.
  const void* gpu_data(const Stream& on, Site site = Site::Caller()) const {
    if (Ready(on.id_)) [[likely]]
      return gpu_.ptr;
    return Reach(&on, Access::kRead, site.file(), site.function(), site.line());
  }
  /// The bytes for the host to read and write.
  void* mutable_cpu_data(Site site = Site::Caller()) { return Write(Access::kReadWrite, site); }
  /// The bytes for work on `on` to read and write.
  void* mutable_gpu_data(const Stream& on, Site site = Site::Caller()) {
    return Write(Access::kReadWrite, on, site);
  }
  /// For the host, if it writes every byte: no copy, no zeroing.
  void* overwrite_cpu_data(Site site = Site::Caller()) { return Write(Access::kOverwrite, site); }
  /// For work on `on` that writes every byte: no copy, no zeroing.
  void* overwrite_gpu_data(const Stream& on, Site site = Site::Caller()) {
    return Write(Access::kOverwrite, on, site);
  }

  /// The same on the main stream of the memory's device.
  ///@{
  const void* gpu_data(Site site = Site::Caller()) const {
    if (Ready(main_)) [[likely]]
      return gpu_.ptr;
    return gpu_data(Stream::Main(device_), site);
  }
  void* mutable_gpu_data(Site site = Site::Caller()) { return WriteOnMain(Access::kReadWrite, site); }
  void* overwrite_gpu_data(Site site = Site::Caller()) { return WriteOnMain(Access::kOverwrite, site); }
  ///@}

  /// The same for a part; the pointer is to the first byte of the range.
  ///@{
  const void* cpu_data(ByteRange range, Site site = Site::Caller()) const {
    return Reach(nullptr, Access::kRead, range, site);
  }
  const void* gpu_data(ByteRange range, const Stream& on, Site site = Site::Caller()) const {
    return Reach(&on, Access::kRead, range, site);
  }
  void* mutable_cpu_data(ByteRange range, Site site = Site::Caller()) {
    return Reach(nullptr, Access::kReadWrite, range, site);
  }
  void* mutable_gpu_data(ByteRange range, const Stream& on, Site site = Site::Caller()) {
    return Reach(&on, Access::kReadWrite, range, site);
  }
  void* overwrite_cpu_data(ByteRange range, Site site = Site::Caller()) {
    return Reach(nullptr, Access::kOverwrite, range, site);
  }
  void* overwrite_gpu_data(ByteRange range, const Stream& on, Site site = Site::Caller()) {
    return Reach(&on, Access::kOverwrite, range, site);
  }
  ///@}
  using Deleter = detail::Deleter;  ///< a std::function<void(void*)> that gives bytes back to their owner
  /// Use the caller's bytes, size() of them, from now on; the caller keeps owning them. The next set_*_data
  /// of that side, or the destructor, gives them back: host bytes when it returns, device bytes in the main
  /// stream's order. The capacity becomes size(). With a deleter, ownership passes to the memory if the call
  /// returns, and the deleter, which must neither throw nor use the memory, is called when the bytes would be
  /// given back. Work may still use device bytes then: their deleter must free them after all that is queued
  /// on the main stream, as cudaFreeAsync does there, or wait for it, as cudaFree does. On a unified device
  /// the bytes must be such as both sides can use, and no work uses them when the deleter is called. Throws
  /// std::invalid_argument for a null pointer and for one that this memory Owns, and StreamCaptureError while
  /// a stream that uses the old bytes is under graph capture.
  void set_cpu_data(void* ptr, Deleter deleter = {}, const Site& site = Site::Caller());
  /// Device bytes of the stream's device; `on` is the stream whose queued work writes them.
  void set_gpu_data(void* ptr, const Stream& on, Deleter deleter = {}, const Site& site = Site::Caller());
  /// @overload
  void set_gpu_data(void* ptr, Deleter deleter = {}, const Site& site = Site::Caller()) {
    set_gpu_data(ptr, Stream::Main(device_), std::move(deleter), site);
  }
  /// The same for bytes that nobody may write. As long as the memory has them, it is constant: an access for
  /// writing on any side, a Resize that adds bytes and an Assign throw std::logic_error, which names the
  /// memory and the range, and change nothing. The bytes are also given back by set_*_data of another side,
  /// since they are not current any more then, and by Release of their own side.
  void set_const_cpu_data(const void* ptr, Deleter deleter = {}, const Site& site = Site::Caller());
  /// The same as set_gpu_data.
  void set_const_gpu_data(const void* ptr, const Stream& on, Deleter deleter = {},
                          const Site& site = Site::Caller());
  /// @overload
  void set_const_gpu_data(const void* ptr, Deleter deleter = {}, const Site& site = Site::Caller()) {
    set_const_gpu_data(ptr, Stream::Main(device_), std::move(deleter), site);
  }

  /// Whether `ptr` is to bytes that this memory has to give back: those that it has allocated, and those that
  /// came with a deleter. Does not throw.
  bool Owns(const void* ptr) const noexcept;

  /// Start on `on` what a read would need on that side, the host or the stream's device, and do not wait for
  /// it. The next access does.
  void Prefetch(Side side, const Stream& on, ByteRange range = {}, const Site& site = Site::Caller()) const;
  /// Caffe's name for Prefetch(kGpu, on). Throws std::logic_error unless the head is HEAD_AT_CPU.
  void async_gpu_push(const Stream& on, const Site& site = Site::Caller());

  /// Gives back the memory of a space; the bytes that only it holds go to the host first, or, from the host,
  /// to the memory's device. The space's pointers are no longer valid, those in captured graphs included.
  /// Counts as a non-const access of the whole. Does nothing where the space has no memory of its own. Throws
  /// std::logic_error for an operand of a call that is under way, and StreamCaptureError while a stream that
  /// uses the bytes is under graph capture; then the space keeps its memory.
  void Release(Side side, const Site& site = Site::Caller());
  void Release(Device& device,
               const Site& site = Site::Caller());  ///< the same for any device that has memory for the bytes
  /// For a borrowed stream, before it is destroyed: from now on the memory waits for what has been queued
  /// there so far, and does not use the stream any more. Throws DeviceError; then call it again.
  void Forget(const Stream& borrowed);

  /// The sides that have every byte that was written, or have them on their way; all devices are one side.
  /// HEAD_AT_GPU, too, where neither side has all.
  Head head() const noexcept { return head({}); }
  /// The same of a range, as far as the memory has it.
  Head head(ByteRange range) const noexcept;
  std::size_t size() const noexcept { return size_; }  ///< in bytes: what is in use
  /// In bytes: what the first access in a space allocates.
  std::size_t capacity() const noexcept { return capacity_; }
  Device& device() const noexcept { return device_; }  ///< what it was made on
  /// Its name in errors and traces; empty if nobody named it.
  const std::string& label() const noexcept;
  void set_label(std::string label);  ///< counts as a non-const access

  /// Keeps the first min(size(), size) bytes; those that are added read as zeros. No pointer changes, nothing
  /// is copied or waited for. Counts as a non-const access of the whole. Throws std::length_error beyond the
  /// capacity.
  void Resize(std::size_t size);
  /// What becomes of the bytes beyond those that Assign copies.
  enum class Rest : std::uint8_t { kDropped, kKept };
  /// Copies the first `size` bytes of `source`, another memory, which has as many; the rest of this memory is
  /// dropped or kept. The copy is made on the side where the source's bytes are, on the main stream if that
  /// is the GPU or both sides; between devices, and for bytes given to a unified device, by way of the host.
  /// Counts as a non-const access, and as a read of `source`. An Assign that throws leaves the bytes as they
  /// were, except where the device says that a copy failed which it has made, and no other space had the old
  /// bytes. Throws std::length_error beyond the capacity.
  void Assign(const SyncedMemory& source, std::size_t size, Rest rest = Rest::kDropped,
              const Site& site = Site::Caller());
  /// The bytes of the range `to` become those of `source`, which may be this memory, from byte `from` on.
  /// They are copied on `on`, or if that is null where they are; otherwise as above. Throws
  /// std::invalid_argument where the two ranges overlap in part.
  void Assign(ByteRange to, const SyncedMemory& source, std::size_t from, const Stream* on = nullptr,
              const Site& site = Site::Caller());

 private:
  friend struct detail::Arrival;
  friend class detail::Call;
  friend class detail::HostGuard;
  friend class detail::InPlace;
  friend class detail::KernelGuard;
  friend class detail::Records;
  friend class detail::Reshaping;
  using Buffer = detail::Buffer;
  using Waits = detail::Waits;

  void* Write(Access access, Site site) {
    if (sole_.load(std::memory_order_acquire) == detail::StreamId::kHost) [[likely]]
      return (unified_ ? gpu_ : cpu_).ptr;
    return Reach(nullptr, access, site.file(), site.function(), site.line());
  }
  void* Write(Access access, const Stream& on, Site site) {
    if (sole_.load(std::memory_order_acquire) == on.id_) [[likely]]
      return gpu_.ptr;
    return Reach(&on, access, site.file(), site.function(), site.line());
  }
  void* WriteOnMain(Access access, Site site) {
    if (sole_.load(std::memory_order_acquire) == main_) [[likely]]
      return gpu_.ptr;
    return Write(access, Stream::Main(device_), site);
  }

  /// The first of the bytes, if all are in place for the access, so that nothing changes; else null. `on` is
  /// null for the host.
  void* InPlace(Access access, const Stream* on, detail::Bytes bytes) const noexcept;
  void* WholeInPlace(Access access, const Stream* on) const noexcept;
  void* PartInPlace(Access access, const Stream* on, detail::Bytes bytes) const noexcept;
  const Buffer* Placed(unsigned space, Access access, const Stream* on, detail::Bytes bytes) const noexcept;
  /// One access. The site in registers, since in memory it would be written where bytes are in place, too.
  void* Reach(const Stream* on, Access access, const char* file, const char* function, int line) const;
  void* Reach(const Stream* on, Access access, ByteRange range, const Site& site) const;

  Waits Prepare(detail::Arrival& arrival, detail::Dying& dying) const;
  void Commit(detail::Arrival& arrival, detail::Dying& dying) const noexcept;
  void Settle(const detail::Arrival& arrival, detail::Dying& dying) const noexcept;
  Waits Fetch(detail::Arrival& arrival, detail::Dying& dying) const;
  Waits FillHoles(detail::Arrival& arrival, detail::Dying& dying) const;
  Waits Bring(detail::Bytes bytes, Spaces holders, detail::Arrival& arrival, detail::Dying& dying) const;
  bool Direct(unsigned source, const detail::Arrival& arrival) const;
  Waits BringFrom(unsigned source, bool direct, detail::Bytes bytes, detail::Arrival& arrival,
                  detail::Dying& dying) const;
  Waits Transfer(detail::Bytes bytes, unsigned to, unsigned source, const Stream& on,
                 detail::Arrival& arrival, detail::Dying& dying) const;
  Waits Zero(detail::Bytes bytes, detail::Arrival& arrival, detail::Dying& dying) const;
  void Publish(detail::Bytes bytes, Access access, unsigned space, const Stream* on) const noexcept;
  unsigned Source(Spaces holders, unsigned space) const;
  Spaces SharersOf(unsigned space) const noexcept;
  template <class Change>
  void ChangeHolders(detail::Bytes bytes, Change change) const noexcept;
  Head HeadOf(detail::Bytes bytes) const noexcept;

  unsigned SpaceOf(Device& device) const;
  std::optional<unsigned> FindSpace(const Device& device) const noexcept;
  Device& DeviceOf(unsigned space) const noexcept;
  Buffer& BufferOf(unsigned space) const noexcept;
  std::size_t CountOf(detail::Bytes bytes) const noexcept {
    return (bytes.last < size_ ? bytes.last : size_) - bytes.first;
  }
  [[noreturn]] void FailRange(ByteRange range, const char* call) const;

  enum class Constness : std::uint8_t { kMutable, kConstant };
  void Adopt(unsigned space, void* ptr, Constness constness, Deleter deleter, const Stream& on,
             const Site& site);
  template <class Condition>
  bool AnyBuffer(Condition condition) const;
  void EndUses(Buffer& buffer) const;
  void RequireMutable(detail::Bytes bytes, const char* what) const;
  bool Outlives() const noexcept;
  void SetLabel(std::unique_ptr<detail::Label> next) noexcept;
  void Allocate(Buffer& buffer, detail::Arrival& arrival, const Stream* on) const;
  void RequireApart(detail::Bytes to, ByteRange from) const;
  /// Whether the device uses bytes of the host that are the caller's, or pinned by another device: its copies
  /// are between blocks of its own.
  bool LendsHostBytesTo(Device& device) const;
  void Take(detail::Bytes to, std::size_t size, const SyncedMemory& source, ByteRange wanted, Head head,
            const Stream* on, const Site& site);
  void CopyOver(const detail::Arrival& target, const void* from, std::size_t size) const;
  void Drop(detail::Bytes bytes);
  /// After it, a Resize to `size` and then to a larger one can't fail.
  void PrepareGrowth(std::size_t size);
  void ForgetReady() const noexcept;
  void ReleaseSpace(unsigned space, const Site& site);
  std::int64_t GiveBack(Buffer& buffer, const Site* evicted = nullptr, std::int64_t waited_ns = 0) noexcept;
  void Abandon(Buffer& buffer, const Stream& on) noexcept;
  void RequireRoom(std::size_t size, const char* call) const;
  std::string Named() const;
  /// The error that is handled now goes on, with the label if there is one and what fills the space.
  [[noreturn]] void RethrowNamed(const Buffer* full = nullptr) const;

  Device& device_;
  std::size_t size_;
  std::size_t capacity_;
  std::unique_ptr<detail::Label> label_;
  const bool unified_;         ///< one buffer serves the host and the device
  mutable unsigned busy_ = 0;  ///< calls under way that have let go of the lock
  /// Guards what follows and `busy_`. Never held while the host waits, unless a pool has no memory left and
  /// waits for its own.
  mutable std::mutex mutex_;
  mutable detail::RangeMap<Spaces> holders_;  ///< what is beyond size_ means nothing
  mutable Buffer cpu_;
  mutable Buffer gpu_;
  mutable std::vector<std::unique_ptr<Buffer>> others_{};  ///< of further devices, in the order of first use
  mutable std::unique_ptr<detail::Writers> writers_;       ///< null until somebody watches
};

}  // namespace ferry
