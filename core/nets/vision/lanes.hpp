// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ferry/kokkos.hpp"

/// Elements beside each other, in vectors that GCC and Clang have for all processors: loops over windows are
/// too short for a compiler to make them.
namespace ferry::detail {

/// As wide as T, so that a comparison of Ts selects between them.
template <class T>
using PositionOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// kLanes elements beside each other; where that is 1, a number.
template <class T, int kLanes>
struct VectorOf {
  // NOLINTNEXTLINE(modernize-use-using): the attribute is for a typedef
  typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
};
template <class T>
struct VectorOf<T, 1> {
  using Type = T;
};

/// How many vectors code for the host goes through at once: none where Kokkos has a GPU, whose compiler need
/// not know them.
inline constexpr int kHostParts =
    std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace> ? 2 : 0;

/// The elements at even places of two vectors. The lanes by number: nvcc loses the dots of a pack there.
template <class Vector, class T>
KOKKOS_FORCEINLINE_FUNCTION Vector EverySecond(const T* x) {
  Vector front, back;
  __builtin_memcpy(&front, x, sizeof front);
  __builtin_memcpy(&back, x + sizeof front / sizeof *x, sizeof back);
  if constexpr (sizeof(T) == 4)
    return __builtin_shufflevector(front, back, 0, 2, 4, 6);
  else
    return __builtin_shufflevector(front, back, 0, 2);
}
template <class Vector, class T, int... kLane>
KOKKOS_FORCEINLINE_FUNCTION Vector Gather(const T* x, std::int64_t step,
                                          std::integer_sequence<int, kLane...> /*lanes*/) {
  return Vector{x[kLane * step]...};
}

/// For a step: all lanes have the same element.
inline constexpr int kSame = -1;

/// Some vectors of 16 bytes, which every processor has: a wider one is taken apart where code is not compiled
/// for those that have it, and stays so when it is inlined where it is. With kParts = 0 one number, for a
/// thread of a GPU.
template <class T, int kParts>
struct Lanes {
  static constexpr int kVectors = std::max(kParts, 1);
  static constexpr int kWidth = kParts == 0 ? 1 : static_cast<int>(16 / sizeof(T));
  using Vector = typename VectorOf<T, kWidth>::Type;
  static constexpr int kCount = kVectors * kWidth;

  Vector part[kVectors]{};

  KOKKOS_FORCEINLINE_FUNCTION void Set(T value) {
    for (int p = 0; p < kVectors; ++p) part[p] = value - Vector{};  // to add it would make -0 to 0
  }
  /// Lane i becomes x[i * step]; step is kStride, or where that is 0, any. At most as many elements are read
  /// as there are lanes, times the step.
  template <int kStride>
  KOKKOS_FORCEINLINE_FUNCTION void Load(const T* x, std::int64_t step) {
    if constexpr (kStride == kSame) {
      Set(*x);
    } else {
      for (int p = 0; p < kVectors; ++p) {
        const T* const from = x + step * kWidth * p;
        if constexpr (kParts == 0 || kStride == 1)
          __builtin_memcpy(&part[p], from, sizeof part[p]);
        else if constexpr (kStride == 2)
          part[p] = EverySecond<Vector>(from);
        else
          part[p] = Gather<Vector>(from, step, std::make_integer_sequence<int, kWidth>());
      }
    }
  }
  /// Lane i becomes i * step.
  KOKKOS_FORCEINLINE_FUNCTION void SetSteps(T step) {
    SetSteps(step, std::make_integer_sequence<int, kWidth>());
  }
  /// to[i] = lane i, for the first `count`.
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION void Store(std::int64_t count, To* to) const {
    To each[kCount];
    for (int p = 0; p < kVectors; ++p) {
      const auto converted = Convert<To>(part[p]);
      __builtin_memcpy(each + p * kWidth, &converted, sizeof converted);
    }
    std::int64_t i = 0;
    for (; i + kWidth <= count; i += kWidth) __builtin_memcpy(to + i, each + i, kWidth * sizeof *to);
    for (; i < count; ++i) to[i] = each[i];
  }

 private:
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION static auto Convert(Vector lanes) {
    if constexpr (kWidth == 1)
      return static_cast<To>(lanes);
    else
      return __builtin_convertvector(lanes, typename VectorOf<To, kWidth>::Type);
  }
  template <int... kLane>
  KOKKOS_FORCEINLINE_FUNCTION void SetSteps(T step, std::integer_sequence<int, kLane...> /*lanes*/) {
    for (int p = 0; p < kVectors; ++p) part[p] = Vector{static_cast<T>((p * kWidth + kLane) * step)...};
  }
};

}  // namespace ferry::detail
