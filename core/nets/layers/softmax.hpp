// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#include "core/nets/layers/columns.hpp"
#include "ferry/blob.hpp"
#include "ferry/kokkos.hpp"

/// The mathematics of Softmax, for the layer of that name and for losses that begin with it.
namespace ferry::detail {

inline constexpr int kLanesOfRow = 16;  ///< how many elements of one row are worked on at once

/// x may be y.
template <class T>
struct SoftmaxRow {
  std::int64_t channels;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* x, T* y) const {
    x += row * channels;
    y += row * channels;
    T lane[kLanesOfRow] = {};
    for (int l = 0; l < kLanesOfRow; ++l) lane[l] = x[0];
    std::int64_t c = 0;
    for (; c + kLanesOfRow <= channels; c += kLanesOfRow)
      for (int l = 0; l < kLanesOfRow; ++l) lane[l] = lane[l] < x[c + l] ? x[c + l] : lane[l];
    for (; c < channels; ++c) lane[0] = lane[0] < x[c] ? x[c] : lane[0];
    T most = lane[0];
    for (int l = 1; l < kLanesOfRow; ++l) most = most < lane[l] ? lane[l] : most;
    T sum = 0;
    for (c = 0; c < channels; ++c) {
      const T e = std::exp(x[c] - most);
      y[c] = e;
      sum += e;
    }
    const T factor = T(1) / sum;
    for (c = 0; c < channels; ++c) y[c] *= factor;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, T* y) const { (*this)(row, y, y); }
};

template <class T, int kWidth>
struct SoftmaxTile {
  Tiles<kWidth> tiles;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t tile, const T* x, T* y) const {
    x += tiles.First(tile);
    y += tiles.First(tile);
    const int width = tiles.Width(tile);
    const std::int64_t end = tiles.channels * tiles.inner;
    T most[kWidth] = {};
    T sum[kWidth] = {};
    for (int w = 0; w < width; ++w) most[w] = x[w];
    for (std::int64_t c = tiles.inner; c < end; c += tiles.inner)
      for (int w = 0; w < width; ++w) most[w] = most[w] < x[c + w] ? x[c + w] : most[w];
    for (std::int64_t c = 0; c < end; c += tiles.inner)
      for (int w = 0; w < width; ++w) {
        const T e = std::exp(x[c + w] - most[w]);
        y[c + w] = e;
        sum[w] += e;
      }
    for (int w = 0; w < width; ++w) sum[w] = T(1) / sum[w];
    for (std::int64_t c = 0; c < end; c += tiles.inner)
      for (int w = 0; w < width; ++w) y[c + w] *= sum[w];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t tile, T* y) const { (*this)(tile, y, y); }
};

/// dy may be dx.
template <class T>
struct SoftmaxGradientRow {
  std::int64_t channels;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* y, const T* dy, T* dx) const {
    y += row * channels;
    dy += row * channels;
    dx += row * channels;
    T lane[kLanesOfRow] = {};
    std::int64_t c = 0;
    for (; c + kLanesOfRow <= channels; c += kLanesOfRow)
      for (int l = 0; l < kLanesOfRow; ++l) lane[l] += y[c + l] * dy[c + l];
    for (; c < channels; ++c) lane[0] += y[c] * dy[c];
    T dot = 0;
    for (int l = 0; l < kLanesOfRow; ++l) dot += lane[l];
    for (c = 0; c < channels; ++c) dx[c] = (dy[c] - dot) * y[c];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* y, T* dx) const {
    (*this)(row, y, dx, dx);
  }
};

template <class T, int kWidth>
struct SoftmaxGradientTile {
  Tiles<kWidth> tiles;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t tile, const T* y, const T* dy, T* dx) const {
    y += tiles.First(tile);
    dy += tiles.First(tile);
    dx += tiles.First(tile);
    const int width = tiles.Width(tile);
    const std::int64_t end = tiles.channels * tiles.inner;
    T dot[kWidth] = {};
    for (std::int64_t c = 0; c < end; c += tiles.inner)
      for (int w = 0; w < width; ++w) dot[w] += y[c + w] * dy[c + w];
    for (std::int64_t c = 0; c < end; c += tiles.inner)
      for (int w = 0; w < width; ++w) dx[c + w] = (dy[c + w] - dot[w]) * y[c + w];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t tile, const T* y, T* dx) const {
    (*this)(tile, y, dx, dx);
  }
};

/// y = exp(x) / (the sum of exp(x) along the column), computed without overflow.
template <class T>
void SoftmaxForward(const Place& place, const Columns& columns, Blob<T>& x, Blob<T>& y) {
  const auto run = [&](const auto&... operands) {
    ForColumns(place, columns, SoftmaxRow<T>{columns.channels},
               SoftmaxTile<T, kTileOnCpu>{Tiles<kTileOnCpu>(columns)}, SoftmaxTile<T, 1>{Tiles<1>(columns)},
               operands...);
  };
  if (&x == &y)
    run(ReadWrite(y));
  else
    run(Read(x), Overwrite(y));
}

/// dx = (dy - (the sum of dy * y along the column)) * y.
template <class T>
void SoftmaxBackward(const Place& place, const Columns& columns, Blob<T>& y, Blob<T>& x) {
  const auto run = [&](const auto&... operands) {
    ForColumns(place, columns, SoftmaxGradientRow<T>{columns.channels},
               SoftmaxGradientTile<T, kTileOnCpu>{Tiles<kTileOnCpu>(columns)},
               SoftmaxGradientTile<T, 1>{Tiles<1>(columns)}, operands...);
  };
  if (&x == &y)
    run(Read(y), ReadWrite(Diff(x)));
  else
    run(Read(y), Read(Diff(y)), Overwrite(Diff(x)));
}

}  // namespace ferry::detail
