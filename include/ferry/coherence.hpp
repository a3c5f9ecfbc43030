// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/detail/language.hpp"

namespace ferry {

/// Where bytes can be. One bit a side, so that a Head is a set of sides.
enum class Side : std::uint8_t { kCpu = 0b01, kGpu = 0b10 };

/// The sides that hold the current bytes, or have a copy of them on its way.
/// Names and values are those of Caffe's SyncedMemory::SyncedHead.
enum class Head : std::uint8_t {
  UNINITIALIZED = 0b00,
  HEAD_AT_CPU = 0b01,
  HEAD_AT_GPU = 0b10,
  SYNCED = 0b11,
};

/// What a caller promises to do with the pointer it asks for.
enum class Access : std::uint8_t {
  kRead,       ///< looks only                                cpu_data()
  kReadWrite,  ///< changes bytes, needs the old ones         mutable_cpu_data()
  kOverwrite,  ///< writes every byte, reads no old one       overwrite_cpu_data()
};

/// What must happen to the accessed side before its pointer is handed out.
enum class Action : std::uint8_t { kNone, kZero, kCopy };

/// A set of spaces where bytes can be: bit 0 is the host, each other one a device. A Head is the case of two.
using Spaces = std::uint32_t;

/// What an access comes to, for the host and one device.
struct Transition {
  Head next;      ///< the holders after it
  Action action;  ///< done before
  /// Both members are equal.
  friend constexpr bool operator==(Transition, Transition) = default;
};
/// What an access comes to.
struct SpacesTransition {
  Spaces next;    ///< the holders after it
  Action action;  ///< done before
  /// Both members are equal.
  friend constexpr bool operator==(SpacesTransition, SpacesTransition) = default;
};

/// Whether the side is in the head.
constexpr bool Holds(Head head, Side side) noexcept {
  return (static_cast<unsigned>(head) & static_cast<unsigned>(side)) != 0;
}
/// The head with this side alone.
constexpr Head Only(Side side) noexcept { return static_cast<Head>(side); }
/// The head and this side.
constexpr Head With(Head head, Side side) noexcept {
  return static_cast<Head>(static_cast<unsigned>(head) | static_cast<unsigned>(side));
}

/// The whole protocol, for bytes that `holders` have, accessed in the one space of `space`. Bytes move only
/// when the access reads them and its space lacks them; a read adds a space, a write leaves only one.
constexpr SpacesTransition Next(Spaces holders, Spaces space, Access access) noexcept {
  const bool lacks_bytes = access != Access::kOverwrite && (holders & space) == 0;
  const Action action = !lacks_bytes ? Action::kNone : holders == 0 ? Action::kZero : Action::kCopy;
  return {access == Access::kRead ? holders | space : space, action};
}
/// The same for the host and one device.
constexpr Transition Next(Head head, Side side, Access access) noexcept {
  const auto [next, action] = Next(static_cast<Spaces>(head), static_cast<Spaces>(side), access);
  return {static_cast<Head>(next), action};
}

/// "cpu" or "gpu".
constexpr const char* Name(Side side) noexcept { return side == Side::kCpu ? "cpu" : "gpu"; }
/// As Caffe spells it: "HEAD_AT_CPU".
constexpr const char* Name(Head head) noexcept {
  constexpr const char* kNames[] = {"UNINITIALIZED", "HEAD_AT_CPU", "HEAD_AT_GPU", "SYNCED"};
  return kNames[static_cast<unsigned>(head)];
}
/// "read", "read-write" or "overwrite".
constexpr const char* Name(Access access) noexcept {
  constexpr const char* kNames[] = {"read", "read-write", "overwrite"};
  return kNames[static_cast<unsigned>(access)];
}
/// "nothing", "zero" or "copy".
constexpr const char* Name(Action action) noexcept {
  constexpr const char* kNames[] = {"nothing", "zero", "copy"};
  return kNames[static_cast<unsigned>(action)];
}

}  // namespace ferry
