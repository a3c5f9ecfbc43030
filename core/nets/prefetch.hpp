// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/blob.hpp"
#include "ferry/place.hpp"
#include "ferry/transfer_guard.hpp"

namespace ferry::detail {

/// What the host has made for a net goes to the net's place. Such copies are meant, whatever the program's
/// TransferGuard says.
template <class T>
void PrefetchTo(const Place& place, const Blob<T>& blob) {
  if (place.side() == Side::kCpu) return;
  const TransferGuard meant(TransferPolicy::kAllow);
  blob.Prefetch(Side::kGpu, place.stream());
}

}  // namespace ferry::detail
