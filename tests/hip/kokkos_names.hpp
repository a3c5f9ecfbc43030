// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "vendor.hpp"

/// What of tests/gpu/kokkos is HIP's.
namespace ferry::hip {

/// The version from which on Kokkos launches on several GPUs, with ROCm 5.6 and newer.
inline constexpr int kKokkosOfSeveral = 40600;

template <class Space>
struct KokkosNames {
  hipStream_t hip_stream() const { return static_cast<const Space*>(this)->stream(); }
  int hip_device() const { return static_cast<const Space*>(this)->device(); }
};

/// As Kokkos has it before ROCm 5.6.
inline int DeviceByKokkos(hipStream_t /*stream*/, int initialised_for) { return initialised_for; }

/// Kokkos pushes no contexts.
inline bool PopsContext() { return false; }

}  // namespace ferry::hip
