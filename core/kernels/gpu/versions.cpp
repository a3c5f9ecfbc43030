// SPDX-License-Identifier: BSD-2-Clause
#include "core/kernels/gpu/versions.hpp"

namespace ferry::detail {
namespace {

/// Since when an instance has a device of its own: Kokkos' changelog, and m_cudaDev and m_hipDev in its
/// source.
constexpr int kCudaSince = 40300, kHipSince = 40600;
/// hipStreamGetDevice, which Kokkos asks.
constexpr int kRuntimeOfHipSince = 5060;

std::string KokkosVersion(int version) {
  return std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100);
}
std::string RuntimeVersion(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string WhyNotOn(const KokkosAtHand& kokkos, int device) {
  if (device == kokkos.device) return {};
  const bool hip = kokkos.backend == "hip";
  const int since = hip ? kHipSince : kCudaSince;
  const int runtime_since = hip ? kRuntimeOfHipSince : 0;
  if (kokkos.version >= since && kokkos.runtime >= runtime_since) return {};
  const std::string backend(kokkos.backend), own = backend + ':' + std::to_string(kokkos.device);
  return "ferry: a kernel on " + backend + ':' + std::to_string(device) + ", while Kokkos " +
         KokkosVersion(kokkos.version) + (hip ? " with ROCm " + RuntimeVersion(kokkos.runtime) : "") +
         " was initialised for " + own +
         " and launches there alone; several GPUs in one process need Kokkos " + KokkosVersion(since) +
         (hip ? " with ROCm " + RuntimeVersion(runtime_since) : "") + " or newer, or a process for each";
}

}  // namespace ferry::detail
