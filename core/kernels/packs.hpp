// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/detail/kokkos/bound.hpp"

/// Loops whose bodies do little more than move bytes, on a GPU: whole packs, as many bytes as a thread can
/// load or store at once. Element by element, threads wait for memory with too few bytes on their way.
namespace ferry::detail {

template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T element[kCount];
};

template <class... T>
KOKKOS_FORCEINLINE_FUNCTION bool BeginAtPacks(const T*... x) {
  return ((reinterpret_cast<std::uintptr_t>(x) | ...) & 15U) == 0;
}

/// A thread's packs of an array, in registers: of those there are, number `first`, and the others `step`
/// behind each other.
template <class T, int kPacks>
class HeldPacks {
 public:
  KOKKOS_FORCEINLINE_FUNCTION HeldPacks(T* x, std::int64_t first, std::int64_t step, std::int64_t packs)
      : x_(x), first_(first), step_(step), packs_(packs) {
    for (int k = 0; k < kPacks; ++k)
      if (IsThere(k)) held_[k] = reinterpret_cast<const Held*>(x_)[first_ + k * step_];
  }
  KOKKOS_FORCEINLINE_FUNCTION T* operator[](int k) { return held_[k].element; }
  /// Back to where they were, unless they are only read.
  KOKKOS_FORCEINLINE_FUNCTION void Store() const {
    if constexpr (!std::is_const_v<T>)
      for (int k = 0; k < kPacks; ++k)
        if (IsThere(k)) reinterpret_cast<Held*>(x_)[first_ + k * step_] = held_[k];
  }

 private:
  using Held = Pack<std::remove_const_t<T>>;
  KOKKOS_FORCEINLINE_FUNCTION bool IsThere(int k) const { return first_ + k * step_ < packs_; }

  T* x_;
  std::int64_t first_, step_, packs_;
  Held held_[kPacks];
};

/// A Share, see LoopOn. For an index the body uses the elements at that index alone,
/// and writes each that it does not read.
template <class Bound>
struct InPacks;
template <class Body, std::size_t... I, class... X>
struct InPacks<BoundBody<Body, std::index_sequence<0>, std::index_sequence<I...>, X*...>> {
  using Bound = BoundBody<Body, std::index_sequence<0>, std::index_sequence<I...>, X*...>;
  static constexpr int kAtOnce = 2;  // on an H200 as fast as any of 1, 4 and 8, and faster than 1 for Set
  static constexpr std::int64_t kInPack = std::min({Pack<std::remove_const_t<X>>::kCount...});
  static_assert(((Pack<std::remove_const_t<X>>::kCount == kInPack) && ...),
                "packs have one number of elements");

  Bound bound;
  std::int64_t n, threads;

  InPacks(const Bound& loop, std::int64_t count, std::int64_t /*at_once*/)
      : bound(loop), n(count), threads((count + kInPack * kAtOnce - 1) / (kInPack * kAtOnce)) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t thread) const {
    Share(thread, static_cast<const Leaf<I, X*>&>(bound).value...);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void Share(std::int64_t thread, X*... x) const {
    const std::int64_t packs = BeginAtPacks(x...) ? n / kInPack : 0;
    if (thread < packs) Do(HeldPacks<X, kAtOnce>(x, thread, threads, packs)...);
    for (std::int64_t i = packs * kInPack + thread; i < n; i += threads) bound(i);
  }
  template <class... Held>
  KOKKOS_FORCEINLINE_FUNCTION void Do(Held... held) const {
    for (int k = 0; k < kAtOnce; ++k)
      for (std::int64_t i = 0; i < kInPack; ++i) bound.body(i, held[k]...);
    (held.Store(), ...);
  }
};

}  // namespace ferry::detail
