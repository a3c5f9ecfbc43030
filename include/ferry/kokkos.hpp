// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/detail/kokkos/run.hpp"
#include "ferry/kokkos_view.hpp"
#include "ferry/operand.hpp"
#include "ferry/place.hpp"

/// Kernels of your own, for every device. Opt-in, for it includes Kokkos. The first kernel initialises
/// Kokkos, and the end of the program finalises it, unless the program has initialised Kokkos before the
/// first kernel.
///
/// A call names where it runs, how far it goes, its operands, and last the body:
///
///     ParallelFor(gpu, n, Read(x), ReadWrite(y), body);         // body(i, const float* x, float* y)
///     ParallelFor(gpu, {ny, nx}, Read(a), Overwrite(b), body);  // body(j, i, View<const float, 2> a,
///                                                               //      View<float, 2> b)
///
/// A body is copied, and runs on the device: KOKKOS_LAMBDA, or a class whose operator() is a const
/// KOKKOS_INLINE_FUNCTION. Indices are std::int64_t. For each operand the body gets a pointer in a loop of
/// one dim, and a View<T, N> in a loop of more dims. A Blob's view has the Blob's own dims; an Array's view
/// has the loop's, which must make up the array's count. Where a call says an operand's dims, as in
/// Read(x, {ny, nx}), the body gets a View of these in every loop. All operands are taken or none. Memory
/// ferries itself to where the kernel runs: to the place, or, where the Kokkos at hand has no kernels for its
/// device, to the CPU, with one warning a process. A loop without an index takes nothing and does nothing.
///
/// All throw what SyncedMemory's accesses throw. Before any byte has moved they throw std::invalid_argument
/// for n < 0 and for operands that overlap in part, and ShapeError for dims that cannot be or do not fit.
/// Where a call has its operands and the device then refuses its work, DeviceError, the elements of Overwrite
/// are lost. Any thread may call.
namespace ferry {

/// body(i, ...) for i from 0 to n - 1, in any order and at once, queued at `place`. For the host the body is
/// compiled for several instruction sets, as far as it is inlined, and runs without Kokkos where Kokkos
/// cannot be initialised. On a processor with fused multiply-adds, a compiler that contracts expressions (as
/// g++ does) rounds a * b + c once, and on others twice: compile the file with -ffp-contract=off for the same
/// bits on every processor.
template <class... OperandsAndBody>
void ParallelFor(const At& place, std::int64_t n, OperandsAndBody&&... operands_and_body) {
  const auto extents = detail::ExtentsOf("ParallelFor", n);
  detail::Split<1>(
      [&](const auto& all, const auto&... operands) {
        detail::WithOperands("ParallelFor", place, extents, detail::FromEnd<0>(all),
                             detail::RunLoop<1>{extents}, operands...);
      },
      std::forward<OperandsAndBody>(operands_and_body)...);
}

/// body(j, i, ...) for each index of two dims or more, up to six. The last dim is to run fastest: a GPU goes
/// through the indices by tiles, a CPU row by row.
template <std::size_t N, class... OperandsAndBody>
  requires(N > 1)
void ParallelFor(const At& place, const std::int64_t (&dims)[N], OperandsAndBody&&... operands_and_body) {
  const auto extents = detail::ExtentsOf("ParallelFor", dims);
  detail::Split<1>(
      [&](const auto& all, const auto&... operands) {
        detail::WithOperands("ParallelFor", place, extents, detail::FromEnd<0>(all),
                             detail::RunLoop<N>{extents}, operands...);
      },
      std::forward<OperandsAndBody>(operands_and_body)...);
}

namespace detail {
template <std::size_t N, class... Arguments>
void Reduce(const At& place, const Extents<N>& extents, Arguments&&... arguments) {
  Split<2>(
      [&](const auto& all, const auto&... operands) {
        auto& result = FromEnd<0>(all);
        using Reducer = typename ReducerOf<std::remove_cvref_t<decltype(result)>>::Type;
        typename Reducer::value_type value{};
        Reducer(value).init(value);
        WithOperands("ParallelReduce", place, extents, FromEnd<1>(all),
                     RunReduction<N, Reducer>{extents, value}, operands...);
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(result)>>) {
          RequireVariable<decltype(all)>();
          result = value;
        } else {
          result.reference() = value;
        }
      },
      std::forward<Arguments>(arguments)...);
}
}  // namespace detail

/// body(i, ..., value) for each index, where the body adds to `value` or joins to it what else the reducer
/// says. The result is there when the call returns. The last argument is where the result goes: a number, for
/// the sum, or one of Kokkos' reducers of a variable on the host, such as Kokkos::Max<float>(most).
template <class... OperandsBodyResult>
void ParallelReduce(const At& place, std::int64_t n, OperandsBodyResult&&... operands_body_result) {
  detail::Reduce(place, detail::ExtentsOf("ParallelReduce", n),
                 std::forward<OperandsBodyResult>(operands_body_result)...);
}
/// The same over two dims or more: body(j, i, ..., value).
template <std::size_t N, class... OperandsBodyResult>
  requires(N > 1)
void ParallelReduce(const At& place, const std::int64_t (&dims)[N],
                    OperandsBodyResult&&... operands_body_result) {
  detail::Reduce(place, detail::ExtentsOf("ParallelReduce", dims),
                 std::forward<OperandsBodyResult>(operands_body_result)...);
}

/// Prefix sums, as in Kokkos: body(i, ..., T& value, bool final) adds the term of index i to `value`. If
/// `final`, the body also writes the sum where it wants it: before it adds, the sum without i, after it with
/// i. The body may be called twice for an index. The scan is queued, unless a T follows the body: then the
/// call waits, and this T becomes the total.
template <class... OperandsBodyTotal>
void ParallelScan(const At& place, std::int64_t n, OperandsBodyTotal&&... operands_body_total) {
  const auto extents = detail::ExtentsOf("ParallelScan", n);
  constexpr auto kOperands =
      (std::size_t{0} + ... + std::size_t{detail::kIsOperand<std::remove_cvref_t<OperandsBodyTotal>>});
  constexpr std::size_t kTail = sizeof...(OperandsBodyTotal) - kOperands;
  static_assert(kTail == 1 || kTail == 2,
                "ferry: what stands before the body is Read(x), ReadWrite(x) or Overwrite(x)");
  detail::Split<kTail>(
      [&](const auto& all, const auto&... operands) {
        const auto& body = detail::FromEnd<kTail - 1>(all);
        using Value = decltype(detail::ScanValue(&std::remove_cvref_t<decltype(body)>::operator()));
        Value total{};
        detail::WithOperands("ParallelScan", place, extents, body,
                             detail::RunScan<Value>{n, kTail == 2 ? &total : nullptr}, operands...);
        if constexpr (kTail == 2) {
          auto& result = detail::FromEnd<0>(all);
          detail::RequireVariable<decltype(all)>();
          static_assert(std::is_same_v<std::remove_cvref_t<decltype(result)>, Value>,
                        "ferry: the total of ParallelScan is of the type that the body adds to");
          result = total;
        }
      },
      std::forward<OperandsBodyTotal>(operands_body_total)...);
}

/// body(space, ...), with the Kokkos execution space of `place`, for what a loop does not say: teams, several
/// kernels in a row. The body's operator() is const and a template over the space; it gets pointers for its
/// operands, as in a loop of one dim. The body runs on the host; what it queues on `space` is work of the
/// place's stream. On a GPU the first call of each type of body runs alone, since Kokkos prepares kernels as
/// they are first launched. So a body must launch the same kernels at each call, and must not wait for
/// another thread's kernels. If the vendor's runtime has an error noted for the thread after the body, the
/// call throws it. On a simulated device the body itself is queued: what it writes to must live until the
/// stream is synchronised, and it must use host memory and its operands alone. Throws NoDevice for every
/// place where Kokkos was built for a GPU and there is none, for then none of Kokkos' spaces works;
/// std::logic_error once Kokkos is finalised; and DeviceError.
template <class... OperandsAndBody>
void Launch(const At& place, OperandsAndBody&&... operands_and_body) {
  const detail::Extents<1> once{{1}, 1};
  detail::Split<1>(
      [&](const auto& all, const auto&... operands) {
        detail::WithOperands("Launch", place, once, detail::FromEnd<0>(all), detail::RunLaunch{},
                             operands...);
      },
      std::forward<OperandsAndBody>(operands_and_body)...);
}

}  // namespace ferry
