// SPDX-License-Identifier: BSD-2-Clause
// Bytes of the caller's.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/device/name.hpp"
#include "core/memory/guard.hpp"
#include "core/memory/observers.hpp"
#include "core/memory/records.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"

namespace ferry {

using detail::Arrival;
using detail::Bytes;
using detail::Dying;
using detail::kHost;
using detail::Only;
using detail::StreamId;

namespace {

void NoteUnguarded(const SyncedMemory& memory) noexcept try {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  Log(LogLevel::kWarning, "FERRY_GUARD: the " + std::to_string(memory.size()) +
                              " bytes that set_cpu_data gave to a memory" +
                              (memory.label().empty() ? "" : ' ' + Quoted(memory.label())) +
                              " are the program's, and not guarded, nor are later ones that are given so");
} catch (const std::bad_alloc&) {  // it stays unsaid
}

}  // namespace

void SyncedMemory::set_cpu_data(void* ptr, Deleter deleter, const Site& site) {
  Adopt(kHost, ptr, Constness::kMutable, std::move(deleter), Stream::Main(device_), site);
}
void SyncedMemory::set_gpu_data(void* ptr, const Stream& on, Deleter deleter, const Site& site) {
  Adopt(SpaceOf(on.device()), ptr, Constness::kMutable, std::move(deleter), on, site);
}
void SyncedMemory::set_const_cpu_data(const void* ptr, Deleter deleter, const Site& site) {
  Adopt(kHost, const_cast<void*>(ptr), Constness::kConstant, std::move(deleter), Stream::Main(device_), site);
}
void SyncedMemory::set_const_gpu_data(const void* ptr, const Stream& on, Deleter deleter, const Site& site) {
  Adopt(SpaceOf(on.device()), const_cast<void*>(ptr), Constness::kConstant, std::move(deleter), on, site);
}

void SyncedMemory::Adopt(unsigned space, void* ptr, Constness constness, Deleter deleter, const Stream& on,
                         const Site& site) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("SyncedMemory::set_" +
                                std::string(constness == Constness::kConstant ? "const_" : "") +
                                (space == kHost ? "cpu" : "gpu") + "_data: the pointer is " + why);
  };
  if (ptr == nullptr) refuse("null; give one to " + std::to_string(size_) + " bytes");
  if (Owns(ptr)) refuse("to bytes that this memory owns and would free; give it bytes of another owner");
  Arrival written(*this, {}, Access::kOverwrite, space == kHost ? nullptr : &on, site);
  const bool watched = detail::Watched();
  if (watched) written.before = HeadOf({});
  Dying dying;
  detail::UseList uses;
  if (written.on != nullptr) {
    uses.Prepare({}, Access::kOverwrite, on, dying);
    uses.Note({}, Access::kOverwrite, on, dying);
  }
  auto owned = deleter ? std::make_unique<Deleter>(std::move(deleter)) : nullptr;
  Buffer& here = BufferOf(space);
  // What is given back must not be in use. Where that cannot be seen to, nothing has changed yet.
  const auto goes = [&](const Buffer& buffer) { return &buffer == &here || buffer.constant; };
  bool waits = false;
  const detail::Stopwatch watch;
  AnyBuffer([&](Buffer& buffer) {
    if (!goes(buffer)) return false;
    waits |= buffer.kind != MemoryKind::kDevice && !buffer.uses.empty();
    return EndUses(buffer), false;
  });
  if (waits && watched) detail::Records::TellWait(written, std::chrono::nanoseconds(watch.Read()));
  AnyBuffer([&](Buffer& buffer) {
    if (!goes(buffer)) return false;
    buffer.uses.Clear();
    if (&buffer == &cpu_) detail::HostGuard::NoteReplaced(*this, detail::HostGuard::Instead::kOfMemory, site);
    GiveBack(buffer);
    return false;
  });
  here.ptr = ptr;
  here.deleter = std::move(owned);
  here.uses = std::move(uses);
  here.constant = constness == Constness::kConstant;
  capacity_ = size_;
  if (watched) detail::Records::TellBlock(*this, here, true, 0, &site);
  ChangeHolders({}, [&](Spaces) { return Only(space); });
  Publish({}, Access::kOverwrite, space, written.on);
  if (here.constant) sole_ = StreamId::kNone;  // else accesses for writing were in place
  detail::HostGuard::Refresh(*this, {});
  if (space == kHost && detail::HostGuard::On()) NoteUnguarded(*this);
  if (watched)
    detail::Records::Tell(written);
  else if (writers_ != nullptr)
    detail::Records::NoteUnwatched(written);
}

void SyncedMemory::EndUses(Buffer& buffer) const try {
  buffer.kind == MemoryKind::kDevice ? buffer.uses.EndBefore(Stream::Main(*buffer.device))
                                     : buffer.uses.EndBeforeHost();
} catch (const DeviceError&) {
  RethrowNamed();
}

void SyncedMemory::RequireMutable(Bytes bytes, const char* what) const {
  if (!AnyBuffer([](const Buffer& buffer) { return buffer.constant; })) return;
  throw std::logic_error(std::string("SyncedMemory: ") + what + " of bytes " + std::to_string(bytes.first) +
                         " to " + std::to_string(std::min(bytes.last, size_)) + " of " + Named() +
                         ", which has " + std::to_string(size_) +
                         ": its bytes were given as const, and are only read");
}

bool SyncedMemory::Owns(const void* ptr) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto owns = [&](const Buffer& buffer) {
    if (buffer.live == nullptr && !buffer.deleter) return false;
    const auto* const begin = static_cast<const std::byte*>(buffer.ptr);
    const std::byte* const end = begin + (buffer.deleter ? capacity_ : buffer.allocated());
    return ptr == begin || (std::less<>()(begin, ptr) && std::less<>()(ptr, end));
  };
  return AnyBuffer(owns);
}

}  // namespace ferry
