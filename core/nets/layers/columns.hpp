// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

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

/// Work on tiles of up to kWidth neighbouring columns: on a CPU so many that its registers are full, on a
/// stream one a thread.
template <int kWidth>
struct Tiles {
  explicit Tiles(const Columns& of)
      : channels(of.channels),
        inner(of.inner),
        per_outer((of.inner + kWidth - 1) / kWidth),
        count(of.outer * per_outer) {}
  KOKKOS_INLINE_FUNCTION std::int64_t First(std::int64_t tile) const {
    return tile / per_outer * channels * inner + tile % per_outer * kWidth;
  }
  KOKKOS_INLINE_FUNCTION int Width(std::int64_t tile) const {
    const std::int64_t rest = inner - tile % per_outer * kWidth;
    return rest < kWidth ? static_cast<int>(rest) : kWidth;
  }

  std::int64_t channels, inner, per_outer, count;
};

inline constexpr int kTileOnCpu = 64;

/// Runs the one of three bodies that fits the place and the columns: a body for a row where `inner` is 1, one
/// for tiles on a CPU, and one for tiles on a stream.
template <class Row, class CpuTile, class StreamTile, class... Operands>
void ForColumns(const Place& place, const Columns& columns, const Row& row, const CpuTile& cpu_tile,
                const StreamTile& stream_tile, const Operands&... operands) {
  if (columns.channels == 0) return;
  if (place.side() != Side::kCpu)
    ParallelFor(place, columns.count(), operands..., stream_tile);
  else if (columns.inner == 1)
    ParallelFor(place, columns.outer, operands..., row);
  else
    ParallelFor(place, Tiles<kTileOnCpu>(columns).count, operands..., cpu_tile);
}

/// Parts of a row of n elements, each for one call of a body: on a CPU 64 elements, which is enough for its
/// registers, on a stream one.
struct Parts {
  std::int64_t n, width, count;

  static Parts Of(const Place& place, std::int64_t n) {
    const std::int64_t width = place.side() == Side::kCpu ? kTileOnCpu : 1;
    return {n, width, (n + width - 1) / width};
  }
  KOKKOS_INLINE_FUNCTION std::int64_t First(std::int64_t part) const { return part * width; }
  KOKKOS_INLINE_FUNCTION std::int64_t Last(std::int64_t part) const {
    return (part + 1) * width < n ? (part + 1) * width : n;
  }
};

/// sums[j] += the sum of x(i, j) over the rows i, in their order.
template <class T>
void AddRows(const Place& place, std::int64_t rows, std::int64_t n, const Blob<T>& x, Blob<T>& blob) {
  const Parts parts = Parts::Of(place, n);
  ParallelFor(
      place, parts.count, Read(Diff(x)), ReadWrite(Diff(blob)),
      KOKKOS_LAMBDA(std::int64_t part, const T* from, T* sums) {
        T sum[kTileOnCpu] = {};
        const std::int64_t first = parts.First(part);
        const std::int64_t width = parts.Last(part) - first;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < width; ++j) sum[j] += from[i * n + first + j];
        for (std::int64_t j = 0; j < width; ++j) sums[first + j] += sum[j];
      });
}

}  // namespace ferry::detail
