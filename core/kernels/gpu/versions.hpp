// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

namespace ferry::detail {

/// What decides on which GPUs a Kokkos can launch.
struct KokkosAtHand {
  std::string_view backend;  ///< "cuda" or "hip"
  int version;               ///< KOKKOS_VERSION: 10000 * major + 100 * minor + patch
  int runtime;               ///< the vendor's: 1000 * major + 10 * minor
  int device;                ///< that it was initialised for
};

/// Why this Kokkos cannot launch on GPU `device`, and what to do; empty where it can. One that is too old
/// takes a stream of another GPU for one of its own, and the launch fails without a word.
std::string WhyNotOn(const KokkosAtHand& kokkos, int device);

}  // namespace ferry::detail
