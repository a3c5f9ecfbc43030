// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/nets/vision/chunk.hpp"
#include "ferry/blob.hpp"
#include "ferry/kokkos.hpp"

/// Work that goes along one axis of a blob, or down the rows of a matrix.
namespace ferry::detail {

/// A blob as columns of `channels` elements, `inner` apart: softmax, for one, goes along a column.
struct Columns {
  std::int64_t outer, channels, inner;

  template <class T>
  static Columns Of(const Blob<T>& blob, int axis) {
    axis = blob.CanonicalAxisIndex(axis);
    return {blob.count(0, axis), blob.shape(axis), blob.count(axis + 1)};
  }
  /// How many there are.
  std::int64_t count() const { return outer * inner; }
};

/// How many neighbours are worked on at once: a count known to the compiler is vectorised at -O2, too.
inline constexpr int kRun = 16;
inline constexpr int kTile = 64;  ///< and how many columns, on a CPU

/// Body::Run<width>(step, end, pointers...) for tiles of neighbouring columns, with pointers to the first
/// one.
template <class Body, int kWidth>
struct TileOf {
  std::int64_t inner, end, per_outer;

  TileOf(const Columns& columns)  // NOLINT(google-explicit-constructor): the same columns
      : inner(columns.inner),
        end(columns.channels * columns.inner),
        per_outer((columns.inner + kWidth - 1) / kWidth) {}
  template <class... X>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t tile, X*... x) const {
    const std::int64_t first = tile % per_outer * kWidth;
    const std::int64_t from = tile / per_outer * end;
    if (first + kWidth <= inner)
      Body::template Run<kWidth>(inner, end, x + from + first...);
    else
      for (std::int64_t j = first; j < inner; ++j) Body::template Run<1>(inner, end, x + from + j...);
  }
};

/// Calls Body for each column on a GPU, so that its threads read neighbours; on a CPU `row` for each row
/// where columns are rows, else Body for tiles of columns. Operands have the columns' elements.
template <class Body, class Row, class... Operands>
void ForColumns(const Place& place, const Columns& columns, const Row& row, const Operands&... operands) {
  if (columns.channels == 0) return;
  if (OnGpuThreads(place)) {
    ParallelFor(place, columns.count(), operands..., TileOf<Body, 1>(columns));
  } else if (columns.inner == 1) {
    ParallelFor(place, columns.outer, operands..., row);
  } else {
    const TileOf<Body, kTile> tile(columns);
    ParallelFor(place, columns.outer * tile.per_outer, operands..., tile);
  }
}

/// Parts of a row of n elements, each for one call of a body: on a CPU 64 elements, which is enough for its
/// registers, on a GPU one.
struct Parts {
  std::int64_t n, width, count;

  static Parts Of(const Place& place, std::int64_t n) {
    const std::int64_t width = OnGpuThreads(place) ? 1 : kTile;
    return {n, width, (n + width - 1) / width};
  }
  KOKKOS_INLINE_FUNCTION std::int64_t First(std::int64_t part) const { return part * width; }
  KOKKOS_INLINE_FUNCTION std::int64_t Last(std::int64_t part) const {
    return (part + 1) * width < n ? (part + 1) * width : n;
  }
};

template <class T>
struct AddRowsOf {
  std::int64_t rows, n;
  Parts parts;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t part, const T* x, T* sums) const {
    const std::int64_t first = parts.First(part);
    if (first + kTile <= n && parts.width == kTile)
      Run<kTile>(x + first, sums + first);
    else
      for (std::int64_t j = first; j < parts.Last(part); ++j) Run<1>(x + j, sums + j);
  }

 private:
  template <int kWidth>
  KOKKOS_INLINE_FUNCTION void Run(const T* x, T* sums) const {
    T sum[kWidth] = {};
    for (std::int64_t i = 0; i < rows; ++i)
      for (int w = 0; w < kWidth; ++w) sum[w] += x[i * n + w];
    for (int w = 0; w < kWidth; ++w) sums[w] += sum[w];
  }
};

/// The diff of `sums`[j] += the sum of the diff of x(i, j) over the rows i, in their order.
template <class T>
void AddRows(const Place& place, std::int64_t rows, std::int64_t n, const Blob<T>& x, Blob<T>& sums) {
  const Parts parts = Parts::Of(place, n);
  ParallelFor(place, parts.count, Read(Diff(x)), ReadWrite(Diff(sums)), AddRowsOf<T>{rows, n, parts});
}

}  // namespace ferry::detail
