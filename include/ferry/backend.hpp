// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ferry/device.hpp"

namespace ferry {

/// A vendor's functions that mark the calling thread's time for its profiler. Texts are copied.
struct ProfilerRanges {
  std::uint64_t (*begin)(const char* text) noexcept;  ///< returns what ends the range
  void (*end)(std::uint64_t range) noexcept;          ///< of any thread
  void (*mark)(const char* text) noexcept;            ///< a point in time
};

/// What a backend gives to be chosen by name.
struct Backend {
  const char* name;  ///< "cuda", "hip", "sim", "host"
  /// How many devices there are; 0 where there is none, or no driver. Does not throw.
  int (*count)() noexcept;
  /// What make(index) would have as properties(). Uses nothing of the device and makes nothing there: a look
  /// at a GPU costs no memory on it. Throws DeviceError.
  DeviceProperties (*describe)(int index);
  /// The bare device `index`, 0 <= index < count(), without adaptors. Throws DeviceError.
  std::unique_ptr<Device> (*make)(int index);
  /// Whether its own allocation is slow, so that GetDevice puts a pool around it.
  bool pooled = true;
  /// Why count() is 0, in the vendor's words; null where it never is.
  std::string (*missing)() = nullptr;
  /// For FERRY_RANGES; null, or returns null, where there are none.
  const ProfilerRanges* (*ranges)() noexcept = nullptr;
};

/// The backends of this build: the one picked at configure time first, then host and sim.
std::span<const Backend> Backends() noexcept;

/// The device of that name: "cuda:1", "sim", "host" (no number is number 0). There is one of each name, made
/// on first use and never destroyed, so that global objects may use it until the very end. It has the usual
/// adaptors around it: statistics, checks in debug builds, and a pool where the backend asks for one. Throws
/// NoDevice, which says why, DeviceError, and, for a vendor's GPU, Error for a FERRY_UNIFIED that is neither
/// 0 nor 1; a later call tries again. Any thread may call.
Device& GetDevice(std::string_view name);

/// The device that the environment variable FERRY_DEVICE names, or else the picked backend's first one, as
/// GetDevice returns it. What FERRY_DEVICE says later does not matter. Throws NoDevice, which says what to
/// set; a later call tries again. Any thread may call.
Device& DefaultDevice();

/// A further device of that name, made as GetDevice makes it: for programs that put adaptors of their own
/// around it, or that must end it. It must outlive all that is made on it. Throws what GetDevice throws.
std::unique_ptr<Device> MakeDevice(std::string_view name);

}  // namespace ferry
