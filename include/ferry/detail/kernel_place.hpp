// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

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

}  // namespace ferry::detail
