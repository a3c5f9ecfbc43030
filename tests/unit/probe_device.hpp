// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backends/host/host_device.hpp"
#include "ferry/error.hpp"
#include "ferry/forwarding_device.hpp"

namespace ferry::testing {

inline constexpr StreamHandle kMain{1};  ///< of the host device

/// The host device, which writes down the calls that an adaptor makes, and fails on demand.
class ProbeDevice final : public ForwardingDevice {
 public:
  ProbeDevice() : ForwardingDevice(std::make_unique<host::HostDevice>()) {}

  std::vector<std::string> calls;  ///< names, and the stream where there is one: "StreamWait 7"
  std::string failing;             ///< a call of this name throws DeviceError
  std::size_t room = std::numeric_limits<std::size_t>::max();  ///< in bytes, for all kinds together
  std::size_t live = 0;                                        ///< bytes that are allocated
  std::size_t largest = 0;                                     ///< bytes of the largest allocation so far
  int events = 0;                                              ///< that are recorded and not released

  void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
    Note("Allocate", on);
    if (bytes > room || live > room - bytes) throw OutOfMemory("probe", bytes);
    void* const ptr = next().Allocate(kind, bytes, on);
    live += bytes;
    largest = std::max(largest, bytes);
    return ptr;
  }
  void Deallocate(MemoryKind kind, void* ptr, std::size_t bytes, StreamHandle on) noexcept override {
    Note("Deallocate", on);
    live -= bytes;
    next().Deallocate(kind, ptr, bytes, on);
  }
  void Abandon(MemoryKind kind, void* ptr, std::size_t bytes,
               std::span<const StreamHandle> users) noexcept override {
    Note("Abandon", users.front());
    live -= bytes;
    next().Abandon(kind, ptr, bytes, users);
  }
  void Trim() override { calls.emplace_back("Trim"); }
  void Copy(CopyKind kind, void* dst, const void* src, std::size_t bytes, StreamHandle on) override {
    Note("Copy", on);
    next().Copy(kind, dst, src, bytes, on);
  }
  void Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle on) override {
    Note("Fill", on);
    next().Fill(dst, value, bytes, on);
  }
  void DestroyStream(StreamHandle stream) noexcept override { Note("DestroyStream", stream); }
  void Synchronize(StreamHandle stream) override { Note("Synchronize", stream); }
  EventHandle Record(StreamHandle on) override {
    Note("Record", on);
    ++events;
    return next().Record(on);
  }
  void Release(EventHandle) noexcept override {
    calls.emplace_back("Release");
    --events;
  }
  void StreamWait(StreamHandle on, EventHandle) override { Note("StreamWait", on); }
  void HostWait(EventHandle) override { Note("HostWait", StreamHandle::kHost); }

 private:
  void Note(const std::string& name, StreamHandle stream) {
    calls.push_back(stream < StreamHandle::kHost
                        ? name + ' ' + std::to_string(static_cast<std::uintptr_t>(stream))
                        : name);
    if (name == failing) throw DeviceError(name, 7, "on demand");
  }
};

}  // namespace ferry::testing
