// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ferry/detail/language.hpp"

namespace ferry {

/// Elements at a kernel's place, indexed by N dims, row-major without gaps: v(j, i). What a loop gives its
/// body. A value that refers to the elements; no index is checked.
template <class T, std::size_t N>
class View {
 public:
  /// As many elements as the product of the dims; neither negative nor checked.
  KOKKOS_FORCEINLINE_FUNCTION View(T* data, const std::int64_t (&dims)[N]) : data_(data) {
    for (std::size_t axis = 0; axis < N; ++axis) dims_[axis] = dims[axis];
  }
  /// A View<T, N> is one that only reads, too.
  template <class U>
    requires std::is_same_v<const U, T>
  // NOLINTNEXTLINE(google-explicit-constructor): as pointers
  KOKKOS_FORCEINLINE_FUNCTION View(const View<U, N>& other) : View(other.data_, other.dims_) {}

  /// The element at N indices, each from 0 to its dim - 1.
  template <class... Index>
    requires(sizeof...(Index) == N && (std::is_convertible_v<Index, std::int64_t> && ...))
  KOKKOS_FORCEINLINE_FUNCTION T& operator()(Index... index) const {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset = offset * dims_[axis++] + static_cast<std::int64_t>(index)), ...);
    return data_[offset];
  }
  /// To the first element; the others follow without gaps.
  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  /// The number of elements along an axis.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t dim(std::size_t axis) const { return dims_[axis]; }

 private:
  template <class, std::size_t>
  friend class View;

  T* data_;
  std::int64_t dims_[N];
};

}  // namespace ferry
