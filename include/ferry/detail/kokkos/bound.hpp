// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/kokkos_view.hpp"
#include "ferry/operand.hpp"

/// How operands become arguments of a body.
namespace ferry::detail {

/// What the body of a loop of N dims gets for an operand.
template <class Operand, std::size_t N>
struct ArgumentOf;
template <class T, std::size_t Said, std::size_t N>
struct ArgumentOf<Operand<T, Said>, N> {
  // NOLINTNEXTLINE(bugprone-branch-clone): the two are one number in some cases only
  static constexpr std::size_t kDims = Said != 0 ? Said : N;
  using Type = std::conditional_t<Said == 0 && N == 1, T*, View<T, kDims>>;
};

template <class T, std::size_t Said, std::size_t N>
void RequireArgument(const char* call, const Operand<T, Said>& operand, const std::int64_t (&loop)[N]) {
  if constexpr (Said == 0 && N > 1) RequireDimsFor(call, operand.part(), loop);
}

template <class T, std::size_t Said, std::size_t N>
typename ArgumentOf<Operand<T, Said>, N>::Type MakeArgument(const Operand<T, Said>& operand,
                                                            const std::int64_t (&loop)[N], void* ptr) {
  auto* const data = static_cast<T*>(ptr);
  if constexpr (Said == 0 && N == 1) {
    return data;
  } else {
    std::int64_t dims[ArgumentOf<Operand<T, Said>, N>::kDims];
    if constexpr (Said == 0)
      CopyDims(operand.part(), loop, dims);
    else
      for (std::size_t axis = 0; axis < Said; ++axis) dims[axis] = operand.dims()[axis];
    return View<T, ArgumentOf<Operand<T, Said>, N>::kDims>(data, dims);
  }
}

/// One of a body's arguments; the number tells it from others of its type.
template <std::size_t I, class Argument>
struct Leaf {
  Argument value;
};

/// std::int64_t, once for each axis. No alias of it: nvcc would forget that it depends on the axis.
template <std::size_t Axis>
struct IndexOf {
  using Type = std::int64_t;
};

/// Whether a body takes these arguments behind its indices.
template <class Body, class Axes, class... Arguments>
struct Takes;
template <class Body, std::size_t... K, class... Arguments>
struct Takes<Body, std::index_sequence<K...>, Arguments...>
    : std::is_invocable<const Body&, typename IndexOf<K>::Type..., Arguments...> {};

/// A body and those of its arguments that are the same for each index: a functor of the indices alone. A
/// tuple of our own, since nvcc refuses captured packs and generic host-device lambdas.
template <class Body, class Axes, class Numbers, class... Arguments>
struct BoundBody;
template <class Body, std::size_t... K, std::size_t... I, class... Arguments>
struct BoundBody<Body, std::index_sequence<K...>, std::index_sequence<I...>, Arguments...>
    : Leaf<I, Arguments>... {
  Body body;

  // NOLINTBEGIN(clang-analyzer-optin.cplusplus.UninitializedObject): what it is given is whole
  // NOLINTBEGIN(modernize-pass-by-value): nothing in it is worth a move
  explicit BoundBody(const Body& code, const Arguments&... arguments)
      : Leaf<I, Arguments>{arguments}..., body(code) {}
  // NOLINTEND(modernize-pass-by-value)
  // NOLINTEND(clang-analyzer-optin.cplusplus.UninitializedObject)

  KOKKOS_FORCEINLINE_FUNCTION void operator()(typename IndexOf<K>::Type... k) const {
    body(k..., static_cast<const Leaf<I, Arguments>&>(*this).value...);
  }
  /// With more arguments behind: what a reduction or a scan adds to.
  template <class... Last>
  KOKKOS_FORCEINLINE_FUNCTION void With(typename IndexOf<K>::Type... k, Last&&... last) const {
    body(k..., static_cast<const Leaf<I, Arguments>&>(*this).value..., last...);
  }
};

/// A Bound for N indices, of operands.
template <std::size_t N, class Body, class... Operands>
using BoundTo = BoundBody<Body, std::make_index_sequence<N>, std::index_sequence_for<Operands...>,
                          typename ArgumentOf<Operands, N>::Type...>;

/// The same for Kokkos' reductions, which know the value's type by its name.
template <class Call, class Value, class Axes>
struct Reducing;
template <class Call, class Value, std::size_t... K>
struct Reducing<Call, Value, std::index_sequence<K...>> {
  using value_type = Value;
  Call call;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(typename IndexOf<K>::Type... k, Value& value) const {
    call.With(k..., value);
  }
};

/// And for its scans.
template <class Call, class Value>
struct Scanning {
  using value_type = Value;
  Call call;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, Value& value, bool final) const {
    call.With(i, value, final);
  }
};

}  // namespace ferry::detail
