// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/nets/layers/columns.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

/// Products of a matrix and a few vectors on a CPU. They read the matrix once, where a BLAS that is made for
/// square factors first copies it.
namespace ferry::detail {

inline constexpr std::int64_t kThin = 4;        ///< the most vectors that this is faster for
inline constexpr std::int64_t kWidePart = 512;  ///< elements of a row that stay in the first cache

/// y(i, row) = (a's row) . x(i) + bias(row), for M vectors from number `vector` on. No bias: null.
template <class T, int M>
struct ThinDot {
  std::int64_t vector, rows, columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* a, const T* x, const T* bias,
                                         T* y) const {
    a += row * columns;
    x += vector * columns;
    y += vector * rows;
    T sum[M][kRun] = {};
    std::int64_t j = 0;
    for (; j + kRun <= columns; j += kRun)
      for (int i = 0; i < M; ++i)
        for (int l = 0; l < kRun; ++l) sum[i][l] += a[j + l] * x[i * columns + j + l];
    for (; j < columns; ++j)
      for (int i = 0; i < M; ++i) sum[i][0] += a[j] * x[i * columns + j];
    for (int i = 0; i < M; ++i) {
      T total = bias != nullptr ? bias[row] : T(0);
      for (int l = 0; l < kRun; ++l) total += sum[i][l];
      y[i * rows + row] = total;
    }
  }
};

/// y(i) = the sum over rows of x(i, row) a(row), plus the bias, for M vectors and a part of the columns.
template <class T, int M>
struct ThinSum {
  std::int64_t vector, rows, columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t part, const T* a, const T* x, const T* bias,
                                         T* y) const {
    x += vector * rows;
    y += vector * columns;
    const std::int64_t first = part * kWidePart;
    const std::int64_t width = columns - first < kWidePart ? columns - first : kWidePart;
    T sum[M][kWidePart] = {};
    if (bias != nullptr)
      for (int i = 0; i < M; ++i)
        for (std::int64_t j = 0; j < width; ++j) sum[i][j] = bias[first + j];
    for (std::int64_t row = 0; row < rows; ++row)
      for (int i = 0; i < M; ++i) {
        const T factor = x[i * rows + row];
        const T* const from = a + row * columns + first;
        std::int64_t j = 0;
        for (; j + kRun <= width; j += kRun)
          for (int l = 0; l < kRun; ++l) sum[i][j + l] += factor * from[j + l];
        for (; j < width; ++j) sum[i][j] += factor * from[j];
      }
    for (int i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < width; ++j) y[i * columns + first + j] = sum[i][j];
  }
};

/// a(row) += the sum over M vectors of x(i, row) y(i).
template <class T, int M>
struct ThinUpdate {
  std::int64_t vector, rows, columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* x, const T* y, T* a) const {
    a += row * columns;
    x += vector * rows;
    y += vector * columns;
    T factor[M] = {};
    for (int i = 0; i < M; ++i) factor[i] = x[i * rows + row];
    std::int64_t j = 0;
    for (; j + kRun <= columns; j += kRun) {
      T sum[kRun] = {};
      for (int i = 0; i < M; ++i)
        for (int l = 0; l < kRun; ++l) sum[l] += factor[i] * y[i * columns + j + l];
      for (int l = 0; l < kRun; ++l) a[j + l] += sum[l];
    }
    for (; j < columns; ++j)
      for (int i = 0; i < M; ++i) a[j] += factor[i] * y[i * columns + j];
  }
};

/// Runs Body for all vectors: four, two or one at a time.
template <template <class, int> class Body, class T, class... Operands>
void ForVectors(const Place& place, std::int64_t vectors, std::int64_t n, std::int64_t rows,
                std::int64_t columns, const Operands&... operands) {
  std::int64_t first = 0;
  for (; vectors - first >= 4; first += 4)
    ParallelFor(place, n, operands..., Body<T, 4>{first, rows, columns});
  for (; vectors - first >= 2; first += 2)
    ParallelFor(place, n, operands..., Body<T, 2>{first, rows, columns});
  for (; vectors - first >= 1; first += 1)
    ParallelFor(place, n, operands..., Body<T, 1>{first, rows, columns});
}

/// y(i) = A x(i) + bias, or for kYes A^T x(i) + bias, for each of the vectors that are rows of x and y; a
/// bias without elements is none.
template <class T, class X, class Y>
void ThinProduct(const Place& place, Transpose transpose, std::int64_t vectors, std::int64_t rows,
                 std::int64_t columns, const Blob<T>& a, X&& x, const Blob<T>& bias, Y&& y) {
  const std::int64_t parts = (columns + kWidePart - 1) / kWidePart;
  if (transpose == Transpose::kNo)
    ForVectors<ThinDot, T>(place, vectors, rows, rows, columns, Read(a), Read(x), Read(bias), ReadWrite(y));
  else
    ForVectors<ThinSum, T>(place, vectors, parts, rows, columns, Read(a), Read(x), Read(bias), ReadWrite(y));
}

}  // namespace ferry::detail
