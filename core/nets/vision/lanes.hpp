// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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

/// A vector of 16 bytes, which every processor has: a wider one is taken apart where code is not compiled for
/// those that have it, and stays so when it is inlined where it is. One number where kParts is 0.
template <class T, int kParts>
struct VectorOf {
  static constexpr int kLanes = static_cast<int>(16 / sizeof(T));
  // NOLINTNEXTLINE(modernize-use-using): the attribute is for a typedef
  typedef T Type __attribute__((vector_size(16)));
};
template <class T>
struct VectorOf<T, 0> {
  static constexpr int kLanes = 1;
  using Type = T;
};

/// How many vectors code for the host goes through at once: none where Kokkos has a GPU, whose compiler need
/// not know them.
inline constexpr int kHostParts =
    std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace> ? 2 : 0;

/// Some vectors. With kParts = 0 one number, for a thread of a GPU.
template <class T, int kParts>
struct Lanes {
  using Vector = typename VectorOf<T, kParts>::Type;
  static constexpr int kVectors = kParts == 0 ? 1 : kParts;
  static constexpr int kWidth = VectorOf<T, kParts>::kLanes;
  static constexpr int kCount = kVectors * kWidth;

  Vector part[kVectors]{};

  KOKKOS_FORCEINLINE_FUNCTION void Set(T value) {
    for (int p = 0; p < kVectors; ++p) part[p] = Vector{} + value;
  }
  /// Lane i becomes i * step.
  KOKKOS_FORCEINLINE_FUNCTION void SetSteps(T step) {
    SetSteps(step, std::make_integer_sequence<int, kWidth>());
  }
  /// to[i] = lane i, for the first `count`.
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION void Store(std::int64_t count, To* to) const {
    T each[kCount];
    __builtin_memcpy(each, part, sizeof part);
    std::int64_t i = 0;
    if constexpr (std::is_same_v<T, To>)
      for (int p = 0; p < kVectors && i + kWidth <= count; ++p, i += kWidth)
        __builtin_memcpy(to + i, &part[p], sizeof part[p]);
    for (; i < count; ++i) to[i] = static_cast<To>(each[i]);
  }

 private:
  template <int... kLane>
  KOKKOS_FORCEINLINE_FUNCTION void SetSteps(T step, std::integer_sequence<int, kLane...> /*lanes*/) {
    for (int p = 0; p < kVectors; ++p) part[p] = Vector{static_cast<T>((p * kWidth + kLane) * step)...};
  }
};

/// A row of an image within an array, of which elements outside of the row may be read, too.
template <class T>
struct ImageRow {
  const T* x;  ///< the row's first element
  std::int64_t width;
  const T *begin, *end;  ///< of the array
};

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

/// Lane i becomes element column + i * stride of the row, or `otherwise` outside of it. Of the lanes only
/// the first `count` matter. `steps` are SetSteps(stride), which is kStride unless that is 0.
template <class T, int kParts, int kStride>
KOKKOS_FORCEINLINE_FUNCTION void Load(const ImageRow<T>& row, std::int64_t column, std::int64_t stride,
                                      std::int64_t count, const Lanes<PositionOf<T>, kParts>& steps,
                                      T otherwise, Lanes<T, kParts>& lanes) {
  using Of = Lanes<T, kParts>;
  using Vector = typename Of::Vector;
  const std::int64_t step = kStride != 0 ? kStride : stride;
  const T* const x = row.x + column;
  if constexpr (kParts == 0) {
    lanes.part[0] = column >= 0 && column < row.width ? *x : otherwise;
  } else if (x >= row.begin && x + Of::kCount * step <= row.end) {
    for (int p = 0; p < Of::kVectors; ++p) {
      const T* const from = x + p * Of::kWidth * step;
      if constexpr (kStride == 1) {
        __builtin_memcpy(&lanes.part[p], from, sizeof(Vector));
      } else if constexpr (kStride == 2) {
        lanes.part[p] = EverySecond<Vector>(from);
      } else {
        lanes.part[p] = Gather<Vector>(from, step, std::make_integer_sequence<int, Of::kWidth>());
      }
    }
    if (column >= 0 && column + (count - 1) * step < row.width) return;
    using Position = PositionOf<T>;
    for (int p = 0; p < Of::kVectors; ++p) {
      const auto at = steps.part[p] + static_cast<Position>(column);
      const auto inside = (at >= 0) & (at < static_cast<Position>(row.width));
      lanes.part[p] = inside ? lanes.part[p] : Vector{} + otherwise;
    }
  } else {
    T each[Of::kCount];
    for (std::int64_t i = 0; i < Of::kCount; ++i) {
      const std::int64_t at = column + i * step;
      each[i] = i < count && at >= 0 && at < row.width ? row.x[at] : otherwise;
    }
    __builtin_memcpy(lanes.part, each, sizeof each);
  }
}

}  // namespace ferry::detail
