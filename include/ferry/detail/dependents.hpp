// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "ferry/detail/live_list.hpp"

namespace ferry {

class Device;

namespace detail {

/// What a memory is called, on the list of its device.
struct Label {
  std::string text;
  Label* previous = nullptr;
  Label* next = nullptr;
};

enum class Dependent : std::uint8_t { kMemory, kStream, kEvent };

/// The memories, streams and events that refer to one device, which must outlive them. This is there for as
/// long as the device or any of them is, so that each can see at its own end that the device has gone. Any
/// thread may call.
class Dependents {
 public:
  static constexpr std::size_t kMost = 16383;  ///< devices; a StreamId has 14 bits for them
  /// Of the device that has this serial number. Only for the device and those that were added.
  static Dependents& Of(std::uint16_t serial) noexcept {
    return *slots[serial].load(std::memory_order_acquire);
  }
  /// What is alive on the devices of a backend, in words: `2 memories ("x" and 1 more), 1 stream`; empty if
  /// nothing is. Those whose device has gone do not count. Throws std::bad_alloc.
  static std::string AliveOn(std::string_view backend);

  /// For a new device. Throws std::length_error for more than there can be.
  static std::uint16_t Open();
  /// The device has gone, and what is live on it is logged. Its number comes again when the last of its
  /// dependents has gone, too.
  void Close() noexcept;

  void Add(Dependent kind, const Device& device) noexcept {
    count(kind).fetch_add(1, std::memory_order_relaxed);
    if (!named_.load(std::memory_order_acquire)) Name(device);
  }
  /// The last that a dependent does here.
  void Remove(Dependent kind) noexcept { count(kind).fetch_sub(1, std::memory_order_release); }
  void Add(Label& label) noexcept;
  void Remove(Label& label) noexcept;

  LiveList& live() noexcept { return live_; }

  bool gone() const noexcept { return gone_.load(std::memory_order_acquire); }
  bool has_memories() const noexcept {
    return counts_[static_cast<std::size_t>(Dependent::kMemory)].load(std::memory_order_acquire) != 0;
  }
  /// "sim:0". Also when it has gone.
  const char* device() const noexcept { return name_.data(); }
  /// Logs that a stream or an event outlives the device, and where it was made, if that is known: the first
  /// one of a device, since others follow.
  void Report(Dependent kind, const Site* made = nullptr) noexcept;
  /// The same of a memory, each one, with who allocated its block if it has one. What it held need not be
  /// reported.
  void ReportMemory(const std::string* label, std::size_t bytes, const LiveNode* block) noexcept;

 private:
  using Count = std::atomic<std::int64_t>;
  Count& count(Dependent kind) noexcept { return counts_[static_cast<std::size_t>(kind)]; }
  bool Idle() const noexcept;
  void Name(const Device& device) noexcept;
  struct Alive {
    std::array<std::int64_t, 3> counts{};
    std::string labels;
    std::int64_t shown = 0;  ///< of the labels
  };
  void AddTo(Alive& alive) const;

  /// By serial number; 0 is nobody's. Never destroyed: devices may be, until the very end.
  static std::array<std::atomic<Dependents*>, kMost + 1> slots;
  std::array<Count, 3> counts_{};
  std::atomic<bool> gone_{false};
  std::atomic<bool> named_{false};
  std::atomic<bool> reported_{false};
  LiveList live_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::array<char, 48> name_{};
  Label* labels_ = nullptr;
};

}  // namespace detail
}  // namespace ferry
