// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ferry/detail/kokkos/bound.hpp"
#include "ferry/detail/kokkos/host_loop.hpp"

/// Reductions and scans on the host.
namespace ferry::detail {

/// The reducer that a result stands for: itself, or the sum.
template <class Result>
struct ReducerOf {
  static_assert(std::is_arithmetic_v<Result>,
                "ferry: the last argument of ParallelReduce is a number or one of Kokkos' reducers");
  using Type = Kokkos::Sum<Result>;
};
template <class Result>
  requires Kokkos::is_reducer<Result>::value
struct ReducerOf<Result> {
  using Type = Result;
};

/// call.With(index[0], ..., i, *value) for the i of a part of a row, in order.
template <class Call, class Value, class Axes>
struct AddRow;
template <class Call, class Value, std::size_t... K>
struct AddRow<Call, Value, std::index_sequence<K...>> {
  Call call;
  Value* total;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t (&index)[sizeof...(K) + 1],
                                              std::int64_t begin, std::int64_t end) const {
    const Call local = call;
    Value value = *total;  // in a register
    for (; begin < end; ++begin) local.With(index[K]..., begin, value);
    *total = value;
  }
};

/// The same for a part of an index space.
template <class Call, class Value, std::size_t N>
struct AddAll {
  static constexpr InstructionSet kWidest = InstructionSet::kAvx2;
  Call call;
  std::int64_t dims[N];
  Value* total;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    ForRows(dims, first, last, AddRow<Call, Value, std::make_index_sequence<N - 1>>{call, total});
  }
};

template <class Call, class Value, std::size_t N>
struct AddShare {
  using value_type = Value;
  AddAll<Call, Value, N> all;
  Shares shares;

  void operator()(std::int64_t worker, Value& value) const {
    AddAll<Call, Value, N> mine = all;
    mine.total = &value;
    Run(mine, shares.First(worker), shares.First(worker + 1));
  }
};

/// Reduces over 0 ... n-1, the count of the dims, into what `reducer` refers to. `gpu` is UseKokkos'.
template <class Call, std::size_t N, class Reducer>
void ReduceOnHost(std::optional<int> gpu, const Call& call, const std::int64_t (&dims)[N], std::int64_t n,
                  const Reducer& reducer) {
  using Value = typename Reducer::value_type;
  AddAll<Call, Value, N> all{call, {}, nullptr};
  for (std::size_t axis = 0; axis < N; ++axis) all.dims[axis] = dims[axis];
  if (!kHostLoopsByKokkos || !UseKokkos(gpu)) {
    all.total = &reducer.reference();
    reducer.init(*all.total);
    return Run(all, 0, n);
  }
  const HostSpace space;
  const std::int64_t workers = WorkersFor(n, space);
  Kokkos::parallel_reduce(Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::int64_t>>(space, 0, workers),
                          AddShare<Call, Value, N>{all, {n, workers}}, reducer);
  Fence(space);
}

/// What a scan's body adds to: T of body(i, ..., T& value, bool final).
template <class Body, class... Parameters>
std::remove_reference_t<std::tuple_element_t<sizeof...(Parameters) - 2, std::tuple<Parameters...>>> ScanValue(
    void (Body::*)(Parameters...) const);

/// Returns the total.
template <class Value, class Call>
Value ScanOnHost(std::optional<int> gpu, const Call& call, std::int64_t n) {
  Value total{};
  if (kHostLoopsByKokkos && UseKokkos(gpu))
    if (const HostSpace space; WorkersFor(n, space) != 1) {
      Kokkos::parallel_scan(Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::int64_t>>(space, 0, n),
                            Scanning<Call, Value>{call}, total);
      Fence(space);
      return total;
    }
  for (std::int64_t i = 0; i < n; ++i) call.With(i, total, true);
  return total;
}

}  // namespace ferry::detail
