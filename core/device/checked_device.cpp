// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/checked_device.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/device/name.hpp"
#include "ferry/detail/registry.hpp"
#include "ferry/log.hpp"

namespace ferry {
namespace {

using Registry = detail::Registry<CheckedDevice>;

constexpr std::size_t kRemembered = 64;

/// Notes what was just made; what can't be noted is unmade.
template <class Note, class Unmake>
void NoteOrUnmake(std::mutex& mutex, Note note, Unmake unmake) {
  try {
    const std::lock_guard lock(mutex);
    note();
  } catch (...) {
    unmake();
    throw;
  }
}

void LogError(const std::exception& error) noexcept { Log(LogLevel::kError, error.what()); }

}  // namespace

struct CheckedDevice::Known {
  struct Block {
    MemoryKind kind;
    std::size_t bytes;
  };
  std::map<std::uintptr_t, Block> blocks;
  std::set<StreamHandle> streams;
  std::set<EventHandle> events;
  std::deque<EventHandle> released;
};

CheckedDevice::CheckedDevice(std::unique_ptr<Device> next)
    : ForwardingDevice(std::move(next)), known_(std::make_unique<Known>()) {
  Registry::instance().Add(*this);
}

CheckedDevice::~CheckedDevice() {
  Registry::instance().Remove(*this);
  if (known_->blocks.empty() && known_->streams.empty() && known_->events.empty()) return;
  try {
    Require(false, "destructor",
            (std::to_string(known_->blocks.size()) + " blocks, " + std::to_string(known_->streams.size()) +
             " streams and " + std::to_string(known_->events.size()) + " events were not given back")
                .c_str());
  } catch (const std::exception& error) {
    LogError(error);
  }
}

void* CheckedDevice::Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) {
  Require(bytes != 0, "Allocate", "no bytes");
  if (kind == MemoryKind::kDevice) RequireStream("Allocate", on);
  void* const ptr = next().Allocate(kind, bytes, on);
  NoteOrUnmake(
      mutex_,
      [&] {
        known_->blocks[reinterpret_cast<std::uintptr_t>(ptr)] = {kind, bytes};
      },
      [&] { next().Deallocate(kind, ptr, bytes, on); });
  return ptr;
}

/// Forgets the block, which goes back.
void CheckedDevice::RequireBlock(const char* call, MemoryKind kind, void* ptr, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto it = known_->blocks.find(reinterpret_cast<std::uintptr_t>(ptr));
  Require(it != known_->blocks.end(), call, "not a block of this device, or freed before");
  Require(it->second.kind == kind, call, "not the kind that was allocated");
  Require(it->second.bytes == bytes, call, "not the size that was allocated");
  known_->blocks.erase(it);
}

void CheckedDevice::Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept try {
  if (kind == MemoryKind::kDevice) RequireStream("Deallocate", on);
  RequireBlock("Deallocate", kind, ptr, bytes);
  next().Deallocate(kind, ptr, bytes, on);
} catch (const std::exception& error) {
  LogError(error);
}

void CheckedDevice::Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
                            std::span<const StreamHandle> users) noexcept try {
  Require(!users.empty(), "Abandon", "no user");
  for (const StreamHandle on : users) RequireStream("Abandon", on);
  RequireBlock("Abandon", kind, ptr, bytes);
  next().Abandon(kind, ptr, bytes, users);
} catch (const std::exception& error) {
  LogError(error);
}

void CheckedDevice::RequireCopy(const char* call, CopyKind kind, void* dst, const void* src,
                                std::size_t bytes, StreamHandle on) {
  RequireStream(call, on);
  RequireRange(call, "dst", dst, bytes, kind == CopyKind::kDeviceToHost ? Role::kHost : Role::kDevice);
  RequireRange(call, "src", src, bytes,
               kind == CopyKind::kHostToDevice   ? Role::kHost
               : kind == CopyKind::kDeviceToHost ? Role::kDevice
                                                 : Role::kSource);
}

void CheckedDevice::Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) {
  RequireCopy("Copy", kind, dst, src, bytes, on);
  next().Copy(kind, dst, src, bytes, on);
}

void CheckedDevice::Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) {
  RequireStream("Fill", on);
  RequireRange("Fill", "dst", dst, bytes, Role::kDevice);
  next().Fill(dst, value, bytes, on);
}

StreamHandle CheckedDevice::CreateStream() {
  const StreamHandle stream = next().CreateStream();
  NoteOrUnmake(
      mutex_, [&] { known_->streams.insert(stream); }, [&] { next().DestroyStream(stream); });
  return stream;
}

void CheckedDevice::DestroyStream(StreamHandle stream) noexcept try {
  {
    const std::lock_guard lock(mutex_);
    Require(known_->streams.erase(stream) != 0, "DestroyStream",
            "not a stream of this device, or destroyed before");
  }
  next().DestroyStream(stream);
} catch (const std::exception& error) {
  LogError(error);
}

void CheckedDevice::Synchronize(StreamHandle stream) {
  RequireStream("Synchronize", stream);
  next().Synchronize(stream);
}

EventHandle CheckedDevice::Record(StreamHandle on) { return Recorded("Record", &Device::Record, on); }
EventHandle CheckedDevice::RecordMeasuring(StreamHandle on) {
  return Recorded("RecordMeasuring", &Device::RecordMeasuring, on);
}
EventHandle CheckedDevice::Recorded(const char* call, EventHandle (Device::*record)(StreamHandle),
                                    StreamHandle on) {
  RequireStream(call, on);
  const EventHandle event = (next().*record)(on);
  NoteOrUnmake(
      mutex_, [&] { NoteEvent(event); }, [&] { next().Release(event); });
  return event;
}
std::int64_t CheckedDevice::Elapsed(EventHandle from, EventHandle to) {
  for (const EventHandle event : {from, to}) RequireKnown("Elapsed", event);
  return next().Elapsed(from, to);
}

/// Handles come again.
void CheckedDevice::NoteEvent(EventHandle event) {
  known_->events.insert(event);
  std::erase(known_->released, event);
}

void CheckedDevice::Release(EventHandle event) noexcept try {
  {
    const std::lock_guard lock(mutex_);
    Require(known_->events.erase(event) != 0, "Release", "not an event of this device, or released before");
    known_->released.push_back(event);
    if (known_->released.size() > kRemembered) known_->released.pop_front();
  }
  next().Release(event);
} catch (const std::exception& error) {
  LogError(error);
}

void CheckedDevice::StreamWait(StreamHandle on, EventHandle event) {
  RequireStream("StreamWait", on);
  RequireWaitable("StreamWait", event);
  next().StreamWait(on, event);
}

void CheckedDevice::HostWait(EventHandle event) {
  RequireKnown("HostWait", event);
  next().HostWait(event);
}

bool CheckedDevice::Reached(EventHandle event) noexcept try {
  RequireKnown("Reached", event);
  return next().Reached(event);
} catch (const std::exception& error) {
  LogError(error);
  return false;
}

std::optional<EventHandle> CheckedDevice::CopyAndRecord(CopyKind kind, void* dst, const void* src,
                                                        std::size_t bytes, StreamHandle on) {
  RequireCopy("CopyAndRecord", kind, dst, src, bytes, on);
  const auto point = next().CopyAndRecord(kind, dst, src, bytes, on);
  if (!point) return point;
  try {
    const std::lock_guard lock(mutex_);
    NoteEvent(*point);
    return point;
  } catch (const std::bad_alloc&) {  // the copy is queued: no note of the point is no point
    next().Release(*point);
    return std::nullopt;
  }
}

void CheckedDevice::Order(std::span<const StreamHandle> before, StreamHandle then) {
  for (const StreamHandle on : before) RequireStream("Order", on);
  RequireStream("Order", then);
  next().Order(before, then);
}

void CheckedDevice::Require(bool kept, const char* call, const char* broken) {
  if (kept) return;
  misuse_count_.fetch_add(1, std::memory_order_relaxed);
  throw std::logic_error(std::string("Device::") + call + ": " + broken);
}

void CheckedDevice::RequireStream(const char* call, StreamHandle stream) {
  Require(stream < StreamHandle::kHost, call, "not a stream's handle");
}

void CheckedDevice::RequireKnown(const char* call, EventHandle event) {
  const std::lock_guard lock(mutex_);
  Require(known_->events.contains(event), call, "not an event of this device, or released before");
}

/// Of all devices of the backend; an event that none of them knows may be of one that is not checked.
void CheckedDevice::RequireWaitable(const char* call, EventHandle event) {
  bool known = false, released = false;
  std::string foreign;
  const auto ask = [&](CheckedDevice& device) {
    const std::lock_guard lock(device.mutex_);
    const auto& old = device.known_->released;
    const bool its = device.known_->events.contains(event);
    if (SameBackend(*this, device)) {
      known |= its;
      released |= std::find(old.begin(), old.end(), event) != old.end();
    } else if (its) {
      foreign = "an event of " + Name(device) + ", for which no stream of " + Name(*this) + " can wait";
    }
  };
  ask(*this);
  if (known) return;
  ForOthers(ask);
  if (known) return;
  Require(!released, call, "the event was released");
  Require(foreign.empty(), call, foreign.c_str());
}

std::optional<CheckedDevice::Found> CheckedDevice::Find(const void* ptr) {
  const auto address = reinterpret_cast<std::uintptr_t>(ptr);
  const std::lock_guard lock(mutex_);
  auto it = known_->blocks.upper_bound(address);
  if (it == known_->blocks.begin()) return std::nullopt;
  --it;
  const std::size_t offset = address - it->first;
  if (offset >= it->second.bytes) return std::nullopt;
  return Found{it->second.kind, it->second.bytes - offset};
}

bool CheckedDevice::SameGpu(const Device& other) const {
  return SameBackend(*this, other) && properties().index == other.properties().index;
}

void CheckedDevice::RequireRange(const char* call, const std::string& name, const void* ptr,
                                 std::size_t bytes, Role role) {
  if (ptr == nullptr) {
    misuse_count_.fetch_add(1, std::memory_order_relaxed);
    throw std::invalid_argument(std::string("Device::") + call + ": " + name + " is null");
  }
  Require(bytes != 0, call, "no bytes");
  std::string owner;  // another device that has it, where this one has not
  bool peer = false;
  auto found = Find(ptr);
  if (!found)
    ForOthers([&](CheckedDevice& other) {
      const auto its = found ? std::nullopt : other.Find(ptr);
      if (!its) return;
      found = its;
      peer = Reaches(*this, other);
      if (!SameGpu(other)) owner = Name(other);
    });
  if (!found) return;
  Require(bytes <= found->room, call, (name + " ends outside its block").c_str());
  if (!owner.empty() && found->kind == MemoryKind::kDevice) {
    const std::string its = name + " is memory of " + owner;
    Require(role == Role::kSource, call, its.c_str());
    Require(peer, call, (its + ", which is no peer of " + Name(*this)).c_str());
  }
  const MemoryKind wrong = role == Role::kHost ? MemoryKind::kDevice : MemoryKind::kPinnedHost;
  // What a memory of several devices keeps on the host is a unified one's buffer, too.
  const bool shared = found->kind == MemoryKind::kPinnedHost && !owner.empty() && properties().unified;
  Require(found->kind != wrong || shared, call, (name + " is memory of the wrong kind").c_str());
}

template <class Each>
void CheckedDevice::ForOthers(Each each) {
  Registry::instance().With([&](const auto& devices) {
    for (CheckedDevice* const device : devices)
      if (device != this) each(*device);
  });
}

}  // namespace ferry
