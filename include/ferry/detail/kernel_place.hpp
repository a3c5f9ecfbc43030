// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <span>

#include "ferry/detail/take.hpp"
#include "ferry/place.hpp"

namespace ferry::detail {

/// Where a kernel that was called at `place` runs: there; or on the CPU, with one warning a process, where
/// the Kokkos at hand has no kernels for the place's device.
class KernelPlace {
 public:
  explicit KernelPlace(const Place& place);
  KernelPlace(const KernelPlace&) = delete;
  KernelPlace& operator=(const KernelPlace&) = delete;

  const Place& operator*() const noexcept { return *place_; }
  const Place* operator->() const noexcept { return place_; }

 private:
  std::optional<Place> cpu_;
  const Place* place_;
};

/// One kernel that was called `at` a place: takes its operands where it runs, all or none (see TakeAt). Its
/// end tells of the call, where somebody watched when it began.
class KernelCall {
 public:
  KernelCall(const At& at, std::span<const Request> requests, std::span<void*> ptrs);
  ~KernelCall() {
    if (extra_ != nullptr) [[unlikely]]
      End();
  }
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  /// As of KernelPlace.
  const Place& place() const noexcept { return *place_; }
  /// The host waits for its result, where that is queued.
  void NoteWait() noexcept {
    if (extra_ != nullptr) [[unlikely]]
      NoteWatchedWait();
  }

 private:
  struct Extra;
  void NoteWatchedWait() noexcept;
  void End() noexcept;

  const Place* place_;
  Extra* extra_ = nullptr;  ///< of a call that goes elsewhere, or is watched
};

}  // namespace ferry::detail
