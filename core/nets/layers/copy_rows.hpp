// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/nets/vision/chunk.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// Part of the rows of a matrix.
template <class T>
struct RowParts {
  Operand<T, 2> matrix;
  std::int64_t first;  ///< the column that the parts begin at
};

/// How rows are cut for the C library's copy, which knows the processor.
struct RowPieces {
  static constexpr std::int64_t kPiece = 16384;  ///< elements
  static constexpr std::int64_t kFew = 16;       ///< elements that a loop moves while a copy is called

  std::int64_t length;  ///< a row's

  static bool Serve(const Place& place, std::int64_t length) {
    return !OnGpuThreads(place) && length >= kFew;
  }
  std::int64_t count() const { return (length + kPiece - 1) / kPiece; }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void Copy(std::int64_t piece, const T* from, T* to) const {
    __builtin_memcpy(to + piece * kPiece, from + piece * kPiece, Elements(piece) * sizeof(T));
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void Zero(std::int64_t piece, T* to) const {
    __builtin_memset(to + piece * kPiece, 0, Elements(piece) * sizeof(T));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t Elements(std::int64_t piece) const {
    const std::int64_t rest = length - piece * kPiece;
    return static_cast<std::size_t>(rest < kPiece ? rest : kPiece);
  }
};

/// Copies parts of `count` columns from the rows of one matrix to those of another, all in one kernel.
template <class T>
void CopyRows(const Place& place, std::int64_t rows, std::int64_t count, const RowParts<const T>& from,
              const RowParts<T>& to) {
  const std::int64_t from_first = from.first;
  const std::int64_t to_first = to.first;
  if (RowPieces::Serve(place, count)) {
    const RowPieces pieces{count};
    ParallelFor(
        place, {rows, pieces.count()}, from.matrix, to.matrix,
        KOKKOS_LAMBDA(std::int64_t row, std::int64_t piece, View<const T, 2> x, View<T, 2> y) {
          pieces.Copy(piece, &x(row, from_first), &y(row, to_first));
        });
    return;
  }
  ParallelFor(
      place, {rows, count}, from.matrix, to.matrix,
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t i, View<const T, 2> x, View<T, 2> y) {
        y(row, to_first + i) = x(row, from_first + i);
      });
}

}  // namespace ferry::detail
