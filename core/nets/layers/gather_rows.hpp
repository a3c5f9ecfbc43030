// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "core/nets/layers/copy_rows.hpp"
#include "ferry/blob.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// Row n of a matrix becomes row rows[n] of another one, for the first `count` n; zeros where that is -1.
template <class T>
void GatherRows(const Place& place, const Blob<std::int64_t>& rows, std::int64_t count, std::int64_t length,
                const Operand<const T, 2>& from, const Operand<T, 2>& to) {
  if (RowPieces::Serve(place, length)) {
    const RowPieces pieces{length};
    ParallelFor(
        place, {count, pieces.count()}, Read(rows, {rows.count()}), from, to,
        KOKKOS_LAMBDA(std::int64_t n, std::int64_t piece, View<const std::int64_t, 1> row, View<const T, 2> x,
                      View<T, 2> y) {
          if (row(n) < 0)
            pieces.Zero(piece, &y(n, 0));
          else
            pieces.Copy(piece, &x(row(n), 0), &y(n, 0));
        });
    return;
  }
  ParallelFor(
      place, {count, length}, Read(rows, {rows.count()}), from, to,
      KOKKOS_LAMBDA(std::int64_t n, std::int64_t i, View<const std::int64_t, 1> row, View<const T, 2> x,
                    View<T, 2> y) { y(n, i) = row(n) < 0 ? T(0) : x(row(n), i); });
}

}  // namespace ferry::detail
