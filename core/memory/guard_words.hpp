// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/memory/guard.hpp"
#include "ferry/coherence.hpp"
#include "ferry/detail/fault.hpp"
#include "ferry/observer.hpp"

namespace ferry::detail {

/// Why a guard forbids to touch a byte in a space, and what it says of that. All but Of may be called in a
/// signal's handler.
class HostGuard::Words {
 public:
  /// Of a byte of a locked memory, whose pages do not allow all.
  static Words Of(const SyncedMemory& memory, unsigned space, std::size_t byte) noexcept;
  void Describe(FaultLine& line, Side side, FaultAccess access) const noexcept;

  static const char* Verb(FaultAccess access) noexcept;  ///< "wrote", "read" or "touched"
  /// `byte 5 of "w", which has 64: `, or so many bytes behind its end.
  static void NameByte(FaultLine& line, std::ptrdiff_t byte, std::string_view label,
                       std::size_t bytes) noexcept;
  static void NameSite(FaultLine& line, const Site& site) noexcept;  ///< "Step (a.cpp:34)"
  static const char* RightAccess(Side side, FaultAccess access) noexcept;

 private:
  enum class Why : std::uint8_t { kNotInUse, kUnasked, kElsewhere, kOnItsWay, kShared, kBeingRead };
  void NameHolder(FaultLine& line) const noexcept;

  Why why_{};
  std::size_t in_use_ = 0;          ///< of the memory's bytes
  std::array<char, 16> backend_{};  ///< of a device that has it; empty for the host
  int index_ = 0;                   ///< of that
  bool alone_ = true;               ///< nobody else has it
  std::optional<Write> written_{};  ///< what took it from here
};

}  // namespace ferry::detail
