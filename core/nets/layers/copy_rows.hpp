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

/// A piece of a row, by the C library's copy, which knows the processor.
template <class T>
struct CopyPiece {
  static constexpr std::int64_t kPiece = 16384;

  std::int64_t count, from_first, to_first;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t piece, View<const T, 2> x,
                                              View<T, 2> y) const {
    const std::int64_t first = piece * kPiece, rest = count - first;
    const auto elements = static_cast<std::size_t>(rest < kPiece ? rest : kPiece);
    __builtin_memcpy(&y(row, to_first + first), &x(row, from_first + first), elements * sizeof(T));
  }
};

/// Copies parts of `count` columns from the rows of one matrix to those of another, all in one kernel.
template <class T>
void CopyRows(const Place& place, std::int64_t rows, std::int64_t count, const RowParts<const T>& from,
              const RowParts<T>& to) {
  const std::int64_t from_first = from.first;
  const std::int64_t to_first = to.first;
  constexpr std::int64_t kFew = 16;  // elements that a loop moves while a copy is called
  if (!OnGpuThreads(place) && count >= kFew) {
    using Piece = CopyPiece<T>;
    const std::int64_t pieces = (count + Piece::kPiece - 1) / Piece::kPiece;
    ParallelFor(place, {rows, pieces}, from.matrix, to.matrix, Piece{count, from_first, to_first});
    return;
  }
  ParallelFor(
      place, {rows, count}, from.matrix, to.matrix,
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t i, View<const T, 2> x, View<T, 2> y) {
        y(row, to_first + i) = x(row, from_first + i);
      });
}

}  // namespace ferry::detail
