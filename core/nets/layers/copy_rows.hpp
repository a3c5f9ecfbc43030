// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// Part of the rows of a matrix.
template <class T>
struct RowParts {
  Operand<T, 2> matrix;
  std::int64_t first;  ///< the column that the parts begin at
};

/// Copies parts of `count` columns from the rows of one matrix to those of another, all in one kernel.
template <class T>
void CopyRows(const Place& place, std::int64_t rows, std::int64_t count, const RowParts<const T>& from,
              const RowParts<T>& to) {
  const std::int64_t from_first = from.first;
  const std::int64_t to_first = to.first;
  ParallelFor(
      place, {rows, count}, from.matrix, to.matrix,
      KOKKOS_LAMBDA(std::int64_t row, std::int64_t i, View<const T, 2> x, View<T, 2> y) {
        y(row, to_first + i) = x(row, from_first + i);
      });
}

}  // namespace ferry::detail
