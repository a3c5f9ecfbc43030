// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ferry/detail/live_list.hpp"
#include "ferry/detail/use_list.hpp"
#include "ferry/device.hpp"

namespace ferry::detail {

// The friends of a SyncedMemory, and what it keeps for them.
struct Arrival;
class Call;
class HostGuard;
class InPlace;
class KernelGuard;
class Records;
class Reshaping;
class Writers;

using Deleter = std::function<void(void*)>;
struct Wait;

/// What a memory has in one space: bytes that it has allocated, or was given, and who uses them.
struct Buffer {
  Device* device;
  MemoryKind kind;
  bool constant = false;  ///< adopted bytes that nobody may write
  std::uint16_t serial = device->serial();
  bool guarded = false;  ///< the host's, on pages of the HostGuard's
  void* ptr = nullptr;
  LiveEntry live{};                    ///< of what the device gets back; null where the bytes are adopted
  std::unique_ptr<Deleter> deleter{};  ///< of adopted bytes that are ours
  UseList uses{};

  bool adopted() const noexcept { return ptr != nullptr && live == nullptr; }
  /// In bytes.
  std::size_t allocated() const noexcept { return live == nullptr ? 0 : live->bytes(); }
  std::byte* At(Bytes bytes) const noexcept { return static_cast<std::byte*>(ptr) + bytes.first; }
  /// The same for copies of ours, whoever else may touch the bytes.
  std::byte* Reach(Bytes bytes) const noexcept;

  /// What the host must wait for before its access, if there is something.
  std::optional<Wait> BeforeHost(Bytes bytes, Access access, Dying& dying);
  /// The same before an access elsewhere returns, for adopted bytes that are copied there.
  std::optional<Wait> AfterReaders(Bytes bytes, Dying& dying);
  /// What it must wait for in the place of `on`, which cannot wait for that itself.
  std::optional<Wait> Before(const Stream& on, Bytes bytes, Access access, Dying& dying);
};

/// What the host must wait for before an access can go on.
struct Wait {
  Buffer* buffer;
  Bytes bytes;
  Access access;
  std::vector<UseList::Awaited> awaited;
};
using Waits = std::optional<Wait>;

}  // namespace ferry::detail
