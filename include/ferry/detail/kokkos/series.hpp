// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "ferry/detail/device_gemm.hpp"
#include "ferry/detail/kokkos/bound.hpp"
#include "ferry/detail/kokkos/run.hpp"

namespace ferry::detail {

/// Where the kernels of one call run, one after another, on pointers that were taken for all of them.
class Series {
 public:
  /// On a stream whose kernels are DeviceSpace's. It must outlive the series.
  explicit Series(const Stream& on) : on_(&on) {}
  /// On the host, in the calling thread's order. `gpu` is as RunOnHost takes it.
  explicit Series(std::optional<int> gpu) : gpu_(gpu) {}

  /// body(i, x...) for i from 0 to n - 1, in any order, and concurrently.
  template <class Body, class... X>
  void For(std::int64_t n, const Body& body, X*... x) const {
    using Each = BoundBody<Body, std::make_index_sequence<1>, std::index_sequence_for<X...>, X*...>;
    if (n == 0) return;
    const Each each(body, x...);
    if (on_ == nullptr) return RunOnHost(gpu_, n, EachOf<Each>{each, {n}});
    RunOnDeviceSpace(Place(*on_), LoopOn<Each, 1>{{{n}, n}, each});
  }

  /// C = alpha * op(A) * op(B) + beta * C, as of ferry::Gemm.
  template <Real T>
  void Gemm(const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c) const;

 private:
  const Stream* on_ = nullptr;
  std::optional<int> gpu_;
};

/// One call of several kernels: work(series, pointers...), with a pointer to the elements of each operand.
/// Where kernels are host code, a copy of `work` runs as a whole, in the order of the place's stream.
template <class Work, class... Operands>
void RunSeries(const At& at, const Work& work, const Operands&... operands) {
  const Taken<Operands...> taken(at, operands...);
  const Place& place = taken.place();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if (IsOnDeviceSpace(place)) return work(Series(place.stream()), taken.template get<I>()...);
    const auto pointers = std::make_tuple(taken.template get<I>()...);
    RunHostCode(
        place, [&] { return taken.Touches(); },
        [work, pointers, series = Series(GpuOf(place.device().properties()))] {
          work(series, std::get<I>(pointers)...);
        });
  }
  (std::index_sequence_for<Operands...>());
}

}  // namespace ferry::detail
