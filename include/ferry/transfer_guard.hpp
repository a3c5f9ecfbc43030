// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "ferry/error.hpp"
#include "ferry/site.hpp"

namespace ferry {

/// What happens where bytes would be copied between the host and a device, or two devices.
enum class TransferPolicy : std::uint8_t { kAllow, kLog, kThrow };

/// A copy that a TransferGuard, or FERRY_TRANSFERS, does not allow. The text has the memory, the bytes, the
/// site of the access, that of the write before it if a guard or another observer was there by then, and what
/// to do.
class TransferRefused : public Error {
 public:
  /// Of the access at `site`.
  TransferRefused(const std::string& what, const Site& site) : Error(what), site_(site) {}
  /// Of the access that needed the copy.
  const Site& site() const noexcept { return site_; }

 private:
  Site site_;
};

/// While it lives, this thread's copies between the host and devices, or two devices, are allowed, logged as
/// warnings, or refused: then the access throws TransferRefused, and changes no byte, except that of several
/// copies that it needs, those before the refused one stay. A Prefetch is a copy, too. The innermost guard of
/// the thread decides, so that kAllow marks what is meant. Where a thread has none, the environment variable
/// FERRY_TRANSFERS does (allow, log or throw), or all are allowed. To be destroyed by the thread that made
/// it, the innermost first. After JAX's jax.transfer_guard.
class [[nodiscard]] TransferGuard {
 public:
  /// Throws std::bad_alloc, and std::logic_error in a call of an observer, unless the policy is kAllow.
  explicit TransferGuard(TransferPolicy policy);
  ~TransferGuard();
  TransferGuard(const TransferGuard&) = delete;
  TransferGuard& operator=(const TransferGuard&) = delete;

 private:
  class Innermost;
  std::unique_ptr<Innermost> guard_;
};

}  // namespace ferry
