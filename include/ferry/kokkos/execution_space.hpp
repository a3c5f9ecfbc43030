// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ferry/stream.hpp"

/// Which of Kokkos' execution spaces runs the kernels of which device: known by what a space can do, so that
/// no backend is named to the preprocessor.
namespace ferry::detail {

using HostSpace = Kokkos::DefaultHostExecutionSpace;
/// The same as HostSpace where Kokkos was built for the host alone.
using DeviceSpace = Kokkos::DefaultExecutionSpace;

/// The backend whose streams `Space` takes; empty where there is none.
template <class Space>
constexpr std::string_view BackendOf() {
  if constexpr (requires(const Space& space) { space.cuda_stream(); }) return "cuda";
  if constexpr (requires(const Space& space) { space.hip_stream(); }) return "hip";
  return {};
}

/// The space's instance whose kernels are work of `stream`.
template <class Space>
Space OnStream(StreamHandle stream) {
  if constexpr (BackendOf<Space>() == "cuda")
    return Space(reinterpret_cast<decltype(std::declval<const Space&>().cuda_stream())>(stream));
  else
    return Space(reinterpret_cast<decltype(std::declval<const Space&>().hip_stream())>(stream));
}

inline constexpr bool kHasDeviceSpace = !BackendOf<DeviceSpace>().empty();

/// Whether kernels of this device are DeviceSpace's.
inline bool OnDeviceSpace(const DeviceProperties& device) noexcept {
  return kHasDeviceSpace && device.launch == nullptr && device.backend == BackendOf<DeviceSpace>();
}

/// While it lives, space() queues kernels on a stream, and the stream's device is the thread's current one.
/// Throws DeviceError. Defined where kHasDeviceSpace is true.
class DeviceScope {
 public:
  explicit DeviceScope(const Stream& on);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  const DeviceSpace& space() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether the GPU does all that it was asked, which is waited for. Defined where kHasDeviceSpace is
/// true.
bool DeviceWorks(int device) noexcept;

/// Sees to it that Kokkos is initialised, where that is up to us for the GPU `device`. A program that does it
/// itself must do so before; else we do it, and finalise it at exit. False once Kokkos has been finalised,
/// and where it needs a GPU and there is none: what is left to run then runs without it.
bool UseKokkos(int device = 0);
/// The same for what needs Kokkos: where UseKokkos is false it throws std::logic_error or NoDevice.
void RequireKokkos(int device = 0);

}  // namespace ferry::detail
