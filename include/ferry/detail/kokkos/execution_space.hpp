// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
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

/// The index of the GPU that an instance of a space with streams queues on.
template <class Space>
int DeviceOf(const Space& space) {
  if constexpr (BackendOf<Space>() == "cuda")
    return space.cuda_device();
  else
    return space.hip_device();
}

inline constexpr bool kHasDeviceSpace = !BackendOf<DeviceSpace>().empty();

/// Whether kernels of this device are DeviceSpace's.
inline bool OnDeviceSpace(const DeviceProperties& device) noexcept {
  return kHasDeviceSpace && device.launch == nullptr && device.backend == BackendOf<DeviceSpace>();
}

/// Whether loops on the host are Kokkos'. Those of its Serial space gain nothing by it; and a Kokkos with a
/// DeviceSpace takes a GPU as it is initialised, which a program that computes on the host alone can spare.
#ifdef KOKKOS_ENABLE_SERIAL
inline constexpr bool kHostLoopsByKokkos = !kHasDeviceSpace || !std::is_same_v<HostSpace, Kokkos::Serial>;
#else
inline constexpr bool kHostLoopsByKokkos = true;
#endif

/// The GPU that Kokkos is to be initialised for by a kernel for memory of `device`, where there is a choice;
/// none where the device has no part in it.
inline std::optional<int> GpuOf(const DeviceProperties& device) noexcept {
  return OnDeviceSpace(device) ? std::optional(device.index) : std::nullopt;
}

/// Calls body(space), whose kernels are work of the stream `on`; its device is the thread's current one
/// meanwhile. `launched_on` is 0 at first, and the same for all bodies of one type. Throws DeviceError,
/// NoDevice where this Kokkos can't launch on that GPU, and what body throws. Defined where kHasDeviceSpace
/// is true.
void RunOnGpu(const Stream& on, std::atomic<std::uint64_t>& launched_on,
              const std::function<void(const DeviceSpace&)>& body);

/// Sees to it that Kokkos is initialised, where that is up to us, for the given GPU or else for the calling
/// thread's current one. A program that does it itself must do so before; else we do it, and finalise it at
/// exit. False once Kokkos has been finalised, and where it needs a GPU and there is none: what is left to
/// run then runs without it. Throws DeviceError.
bool UseKokkos(std::optional<int> gpu = {});
/// The same for what needs Kokkos: where UseKokkos is false it throws std::logic_error or NoDevice.
void RequireKokkos(std::optional<int> gpu = {});

}  // namespace ferry::detail
