// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ferry/detail/operands.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos/execution_space.hpp"
#include "ferry/kokkos/host_loop.hpp"

/// Kernels of your own, for every device. Opt-in, as it includes Kokkos. The first kernel initialises Kokkos,
/// and the end of the program finalises it; a program that initialises it itself does so before the first
/// kernel.
namespace ferry {

/// The memory that a kernel uses: {x, y} for all of two blocks, or {{x, n}, {y, n}} for n elements of each.
/// What is named by a pointer to const is only read.
using Touches = std::initializer_list<Touch>;

namespace detail {

/// Runs host code at a place that has no DeviceSpace: now, or in the order of its stream.
template <class Code>
void RunHostCode(const Place& place, Touches touches, Code code) {
  const DeviceProperties& device = place.stream().device().properties();
  if (place.side() == Side::kCpu || device.launch == nullptr) return code();
  device.launch(device.index, place.stream().handle(), touches, std::move(code));
}

/// Runs body(space) on the place's DeviceSpace, or returns false where it has none.
template <class Body>
bool RunOnDeviceSpace(const Place& place, const Body& body) {
  if constexpr (kHasDeviceSpace) {
    const DeviceProperties& device = place.stream().device().properties();
    if (place.side() == Side::kGpu && OnDeviceSpace(device)) {
      RequireKokkos(device.index);
      static std::atomic<std::uint64_t> launched_on{0};
      RunOnGpu(place.stream(), launched_on, [&](const DeviceSpace& space) { body(space); });
      return true;
    }
  }
  return false;
}

/// A parallel loop on any of Kokkos' spaces.
template <class Functor>
struct LoopOn {
  std::int64_t n;
  Functor functor;

  template <class Space>
  void operator()(const Space& space) const {
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, n), functor);
  }
};

/// ParallelFor, for the kernel that `call` names.
template <class Functor>
void Loop(const char* call, const Place& place, std::int64_t n, Touches touches, Functor functor) {
  RequireOperands(call, n, touches);
  if (n == 0 || RunOnDeviceSpace(place, LoopOn<Functor>{n, functor})) return;
  const auto gpu = GpuOf(place.stream().device().properties());
  RunHostCode(place, touches,
              [gpu, n, range = EachOf<Functor>{std::move(functor)}] { RunOnHost(gpu, n, range); });
}

}  // namespace detail

/// functor(std::int64_t i) for i from 0 to n - 1, in any order and at once, queued at `place`. The functor is
/// copied, and runs on the device: KOKKOS_LAMBDA, or a class whose operator() is a const
/// KOKKOS_INLINE_FUNCTION. On a host it is compiled for several instruction sets, as far as it is inlined,
/// and runs without Kokkos where that cannot be initialised. Where the processor has fused multiply-adds, a
/// compiler that contracts expressions (g++ does) rounds a * b + c once, and elsewhere twice: compile the
/// file with -ffp-contract=off for the same bits on every processor. Throws DeviceError, and
/// std::invalid_argument for n < 0 and, unless n is 0, for a null pointer in `touches`. Any thread may call.
template <class Functor>
void ParallelFor(const Place& place, std::int64_t n, Touches touches, Functor functor) {
  detail::Loop("ParallelFor", place, n, touches, std::move(functor));
}

/// body(space), with the Kokkos execution space of `place`, for what a loop does not say: teams, reductions,
/// scans. Its operator() is const and a template over the space. It runs on the host; what it queues on
/// `space` is work of the place's stream. On a GPU the first call of each Body runs alone, because Kokkos
/// prepares a kernel at its first launch. So a Body must launch the same kernels at each call, and must not
/// wait for another thread's. An error that the runtime holds for this thread after the body is thrown. On a
/// simulated device the body itself is queued: what it writes to must live until the stream is synchronised,
/// and it must use host memory and `touches` alone. Throws NoDevice for any place where Kokkos was built for
/// a GPU and there is none, for then no space of its works; std::logic_error once Kokkos is finalised;
/// std::invalid_argument for a null pointer in `touches`; and DeviceError.
template <class Body>
void Launch(const Place& place, Touches touches, Body body) {
  detail::RequirePointers("Launch", touches);
  if (detail::RunOnDeviceSpace(place, body)) return;
  const auto gpu = detail::GpuOf(place.stream().device().properties());
  detail::RequireKokkos(gpu);
  detail::RunHostCode(place, touches, [gpu, body = std::move(body)] {
    detail::RequireKokkos(gpu);  // what was queued may run after the end
    body(detail::HostSpace());
  });
}

}  // namespace ferry
