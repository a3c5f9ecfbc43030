// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/synced_memory.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/device/name.hpp"
#include "ferry/log.hpp"
#include "observe.hpp"

namespace ferry {
namespace {

const char* NameOfGpu(Access access) {
  return access == Access::kRead        ? "gpu_data"
         : access == Access::kReadWrite ? "mutable_gpu_data"
                                        : "overwrite_gpu_data";
}

}  // namespace

/// What an access had to do to its side.
struct SyncedMemory::Step {
  Action action = Action::kNone;
  std::size_t bytes = 0;
};

/// The memory's lock, and what dies once it is open.
struct SyncedMemory::Locked {
  explicit Locked(const SyncedMemory& memory) : lock(memory.mutex_) {}
  detail::EndedUses ended;
  std::unique_lock<std::mutex> lock;
};

SyncedMemory::SyncedMemory(std::size_t size, Device& device)
    : device_(device),
      size_(size),
      capacity_(size),
      unified_(device.properties().unified),
      main_(Stream::Main(device)),
      gpu_{unified_ ? MemoryKind::kManaged : MemoryKind::kDevice} {}

SyncedMemory::~SyncedMemory() {
  Release(cpu_);
  Release(gpu_);
}

void* SyncedMemory::Reach(Side side, Access access, const Stream& on) const {
  RequireOurs(on, NameOfGpu(access));
  Locked held(*this);
  sole_ = StreamHandle::kNone;
  const Head before = head_;
  Step step;
  if (size_ != 0) {
    if (side == Side::kCpu) {
      // Where the bytes are written anyway: no stream waits for another.
      const detail::Use* const write = gpu_.uses.LastWrite();
      step = Arrive(side, access, write != nullptr ? write->on.ToStream() : main_, held);
      HostArrives(buffer(side), access, held);
    } else {
      step = Arrive(side, access, on, held);
      // The caller's bytes have been read when this returns. A copy on its way to them concerns nobody here.
      while (cpu_.adopted() && cpu_.uses.LastWrite() == nullptr && HostAwaits(cpu_, Access::kReadWrite, held))
        continue;
      // Last, as a write that is noted has made the fast path's note go, and must not fail any more.
      if (gpu_.uses.Add(access, on, held.ended) != nullptr)
        gpu_.uses.FoldOrphans([&] { gpu_ready_ = StreamHandle::kNone; }, held.ended);
    }
  }
  Publish(side, access, on);
  detail::Observe({this, step.bytes, before, side, access, step.action, head_});
  return buffer(side).ptr;
}

void SyncedMemory::Prefetch(Side side, const Stream& on) const {
  RequireOurs(on, "Prefetch");
  Locked held(*this);
  sole_ = StreamHandle::kNone;
  if (size_ == 0 || (side == Side::kCpu && head_ != HEAD_AT_GPU)) return;  // no stream has work to start
  const Head before = head_;
  const Step step = Arrive(side, Access::kRead, on, held);
  detail::Observe({this, step.bytes, before, side, Access::kRead, step.action, head_});
}

void SyncedMemory::async_gpu_push(const Stream& on) {
  RequireOurs(on, "async_gpu_push");
  if (head() != HEAD_AT_CPU)
    throw std::logic_error(std::string("SyncedMemory::async_gpu_push: the head is ") + Name(head()) +
                           ", and must be HEAD_AT_CPU; Prefetch is for any");
  Prefetch(Side::kGpu, on);
}

void SyncedMemory::set_cpu_data(void* ptr, Deleter deleter) {
  Adopt(Side::kCpu, ptr, std::move(deleter), main_);
}
void SyncedMemory::set_gpu_data(void* ptr, const Stream& on, Deleter deleter) {
  Adopt(Side::kGpu, ptr, std::move(deleter), on);
}

void SyncedMemory::Resize(std::size_t size) {
  RequireRoom(size, "Resize");
  if (size > size_) {  // what was in place may lack its tail
    cpu_ready_ = nullptr;
    gpu_ready_ = StreamHandle::kNone;
    sole_ = StreamHandle::kNone;
  }
  size_ = size;
  for (Buffer* buffer : {&cpu_, &gpu_}) buffer->extent = std::min(buffer->extent, size);
}

void SyncedMemory::Assign(const SyncedMemory& source, std::size_t size, Rest rest) {
  RequireRoom(size, "Assign");
  if (size > source.size_)
    throw std::length_error("SyncedMemory::Assign: " + std::to_string(size) + " bytes of a source that has " +
                            std::to_string(source.size_) + "; its size is the most");
  const bool partly = rest == Rest::kKept && size < size_;
  if (!partly && (size == 0 || source.head() == UNINITIALIZED)) {
    Resize(0);
    return Resize(size);
  }
  if (size == 0) return;
  // A device's copies are between blocks of its own, and a unified one's lent bytes may be any that it can
  // reach.
  const auto lent = [](const SyncedMemory& memory) {
    const std::lock_guard lock(memory.mutex_);
    return memory.unified_ && memory.gpu_.adopted();
  };
  const bool on_gpu =
      &source.device_ == &device_ && Holds(source.head(), Side::kGpu) && !lent(source) && !lent(*this);
  const Side side = on_gpu ? Side::kGpu : Side::kCpu;
  const void* const from = side == Side::kGpu ? source.gpu_data(main_) : source.cpu_data();
  if (partly) Reach(side, Access::kRead, main_);
  Locked held(*this);
  sole_ = StreamHandle::kNone;
  const Head before = head_;
  Buffer& here = buffer(side);
  Allocate(here, main_);
  if (side == Side::kGpu) {
    here.uses.Add(Access::kOverwrite, main_, held.ended);
    // If the copy fails, nothing is in place here any more, and these bytes are gone where the cpu's are not.
    gpu_ready_ = StreamHandle::kNone;
    if (unified_) cpu_ready_ = nullptr;
    if (head_ == SYNCED && !unified_) head_ = HEAD_AT_CPU;
    device_.Copy(CopyKind::kDeviceToDevice, here.ptr, from, size, main_.handle());
  } else {
    while (HostAwaits(here, Access::kOverwrite, held)) continue;
    std::memcpy(here.ptr, from, size);
  }
  if (!partly) size_ = size;
  Publish(side, Access::kOverwrite, main_);
  detail::Observe({this, 0, before, side, Access::kOverwrite, Action::kNone, head_});
}

void SyncedMemory::Adopt(Side side, void* ptr, Deleter deleter, const Stream& on) {
  const auto refuse = [side](const std::string& why) {
    throw std::invalid_argument(std::string("SyncedMemory::set_") + Name(side) + "_data: the pointer is " +
                                why);
  };
  if (ptr == nullptr) refuse("null; give one to " + std::to_string(size_) + " bytes");
  if (Owns(ptr)) refuse("to bytes that this memory owns and would free; give it bytes of another owner");
  RequireOurs(on, "set_gpu_data");
  detail::UseList uses;
  if (side == Side::kGpu) uses.Note(on);
  Buffer& here = buffer(side);
  // What is given back must not be in use. Where that cannot be seen to, nothing has changed yet.
  here.kind == MemoryKind::kDevice ? here.uses.EndBefore(main_) : here.uses.EndBeforeHost();
  Release(here);
  here.ptr = ptr;
  here.deleter = std::move(deleter);
  here.uses = std::move(uses);
  capacity_ = size_;
  Publish(side, Access::kOverwrite, on);
}

bool SyncedMemory::Owns(const void* ptr) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto owns = [&](const Buffer& buffer) {
    if (buffer.allocated == 0 && !buffer.deleter) return false;
    const auto* const begin = static_cast<const std::byte*>(buffer.ptr);
    const std::byte* const end = begin + (buffer.deleter ? capacity_ : buffer.allocated);
    return ptr == begin || (std::less<>()(begin, ptr) && std::less<>()(ptr, end));
  };
  return owns(cpu_) || owns(gpu_);
}

/// Sees to it that the bytes are on `side` or on their way there, except a tail that the host must zero. The
/// head follows at once: whoever comes next must wait for this copy, not make another.
SyncedMemory::Step SyncedMemory::Arrive(Side side, Access access, const Stream& on, Locked& held) const {
  Buffer& here = buffer(side);
  Allocate(here, on);
  Step step;
  const Action action = Next(head_, side, access).action;
  if (action == Action::kCopy) {
    if (!unified_) step = {Action::kCopy, Transfer(side, on, held)};
    head_ = With(head_, side);
  }
  if (access == Access::kOverwrite || here.extent == size_) return step;
  if (step.action == Action::kNone) step = {Action::kZero, size_ - here.extent};
  if (side == Side::kGpu) {
    FillTail(on, held);
    head_ = With(head_, side);
  }
  return step;
}

/// One copy is one stream's read of the one buffer and overwrite of the other. Both are noted before
/// the copy is queued, so that a call that fails half-way is still waited for.
std::size_t SyncedMemory::Transfer(Side to, const Stream& on, Locked& held) const {
  Buffer& dst = buffer(to);
  Buffer& src = to == Side::kCpu ? gpu_ : cpu_;
  if (src.extent != 0) {
    detail::Use* const read = src.uses.Add(Access::kRead, on, held.ended);
    detail::Use* const write = dst.uses.Add(Access::kOverwrite, on, held.ended);
    // Without its point the copy is waited for like a kernel: with all that is queued behind it.
    const auto landed = Event::OfCopy(to == Side::kCpu ? CopyKind::kDeviceToHost : CopyKind::kHostToDevice,
                                      dst.ptr, src.ptr, src.extent, on);
    if (read != nullptr) read->point = landed;
    write->point = landed;
  }
  return dst.extent = src.extent;
}

/// Bytes beyond the extent read as zeros; here they become so. Zeros on first read are the case of extent 0.
void SyncedMemory::FillTail(const Stream& on, Locked& held) const {
  gpu_.uses.Add(Access::kReadWrite, on, held.ended);
  device_.Fill(static_cast<std::byte*>(gpu_.ptr) + gpu_.extent, std::byte{0}, size_ - gpu_.extent,
               on.handle());
  gpu_.extent = size_;
}

/// The same for the host, which waits for what must come before its access. A tail is a write, though the
/// access be a read: it waits for readers too, but only as long as no stream has filled it meanwhile.
void SyncedMemory::HostArrives(Buffer& here, Access access, Locked& held) const {
  const auto lacks_tail = [&] { return access != Access::kOverwrite && here.extent < size_; };
  while (HostAwaits(here, lacks_tail() ? Access::kReadWrite : access, held)) continue;
  if (!lacks_tail()) return;
  std::memset(static_cast<std::byte*>(here.ptr) + here.extent, 0, size_ - here.extent);
  here.extent = size_;
}

/// Returns whether there was something to wait for; then the lock was open meanwhile, and all may have
/// changed.
bool SyncedMemory::HostAwaits(Buffer& buffer, Access access, Locked& held) {
  const auto awaited = buffer.uses.BeforeHost(access);
  if (awaited.empty()) return false;
  held.lock.unlock();
  for (const auto& use : awaited) use.point.HostWait();
  held.lock.lock();
  buffer.uses.Reached(awaited, access, held.ended);
  return true;
}

void SyncedMemory::Publish(Side side, Access access, const Stream& on) const {
  const bool host = side == Side::kCpu, reads = access == Access::kRead;
  if (access == Access::kOverwrite) buffer(side).extent = size_;
  head_ = Next(head_, side, access).next;
  if (host || !reads) cpu_ready_.store(host ? buffer(side).ptr : nullptr, std::memory_order_release);
  if (!host || !reads) gpu_ready_.store(host ? StreamHandle::kNone : on.handle(), std::memory_order_release);
  if (!reads) sole_ = host ? StreamHandle::kHost : on.handle();
}

void SyncedMemory::Allocate(Buffer& buffer, const Stream& on) const {
  if (buffer.ptr != nullptr) return;
  buffer.uses.Reserve();
  buffer.ptr = device_.Allocate(buffer.kind, capacity_, on.handle());
  buffer.allocated = capacity_;
  if (buffer.kind == MemoryKind::kDevice) buffer.uses.Note(on);
}

/// Device memory goes back in a stream's order; memory that the host may touch next, when nothing uses it.
void SyncedMemory::Release(Buffer& buffer) noexcept {
  const detail::Use* const first = buffer.uses.First();
  const Stream on = buffer.adopted() || first == nullptr ? main_ : first->stream();
  const bool ended =
      buffer.kind == MemoryKind::kDevice ? buffer.uses.TryEndBefore(on) : buffer.uses.TryEndBeforeHost();
  if (!ended) return Abandon(buffer, on);
  if (buffer.allocated != 0) device_.Deallocate(buffer.kind, buffer.ptr, buffer.allocated, on.handle());
  if (buffer.deleter) buffer.deleter(buffer.ptr);
  buffer.allocated = 0;
}

/// For bytes that streams under graph capture may still use: the device knows when its own are free. Nobody
/// knows that of adopted ones, so that their deleter is not called.
void SyncedMemory::Abandon(Buffer& buffer, const Stream& on) noexcept try {
  if (buffer.adopted()) {
    Log(LogLevel::kError, "a memory ends while a stream under graph capture may still use the " +
                              std::to_string(size_) + " bytes that it was given" +
                              (buffer.deleter ? ": their deleter is not called" : ""));
    return;
  }
  auto users = buffer.uses.Streams();
  users.insert(users.begin(), on.handle());
  device_.Abandon(buffer.kind, buffer.ptr, buffer.allocated, users);
} catch (const std::bad_alloc&) {  // the block is lost, which harms nobody else
}

void SyncedMemory::RequireRoom(std::size_t size, const char* call) const {
  if (size > capacity_)
    throw std::length_error(std::string("SyncedMemory::") + call + ": " + std::to_string(size) +
                            " bytes in a capacity of " + std::to_string(capacity_) +
                            ", which is the most; make a larger memory");
}

void SyncedMemory::RequireOurs(const Stream& on, const char* call) const {
  if (&on.device() != &device_)
    throw std::invalid_argument(std::string("SyncedMemory::") + call + ": the stream is of the device " +
                                Name(on.device()) + ", the memory of another, " + Name(device_) +
                                "; give a stream of the memory's device");
}

}  // namespace ferry
