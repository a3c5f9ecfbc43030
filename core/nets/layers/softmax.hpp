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

/// x may be y.
template <class T>
struct SoftmaxRow {
  std::int64_t channels;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* x, T* y) const {
    x += row * channels;
    y += row * channels;
    T lane[kRun] = {};
    for (T& most_of_lane : lane) most_of_lane = x[0];
    std::int64_t c = 0;
    for (; c + kRun <= channels; c += kRun)
      for (int l = 0; l < kRun; ++l) lane[l] = lane[l] < x[c + l] ? x[c + l] : lane[l];
    for (; c < channels; ++c) lane[0] = lane[0] < x[c] ? x[c] : lane[0];
    T most = lane[0];
    for (int l = 1; l < kRun; ++l) most = most < lane[l] ? lane[l] : most;
    T sum = 0;
    for (c = 0; c < channels; ++c) {
      const T e = std::exp(x[c] - most);
      y[c] = e;
      sum += e;
    }
    const T factor = T(1) / sum;
    for (c = 0; c + kRun <= channels; c += kRun)
      for (int l = 0; l < kRun; ++l) y[c + l] *= factor;
    for (; c < channels; ++c) y[c] *= factor;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, T* y) const { (*this)(row, y, y); }
};

/// `step` is from one element of a column to the next, `end` from the first to behind the last.
template <class T>
struct SoftmaxColumns {
  template <int kWidth>
  KOKKOS_INLINE_FUNCTION static void Run(std::int64_t step, std::int64_t end, const T* x, T* y) {
    T most[kWidth] = {};
    T sum[kWidth] = {};
    for (int w = 0; w < kWidth; ++w) most[w] = x[w];
    for (std::int64_t c = step; c < end; c += step)
      for (int w = 0; w < kWidth; ++w) most[w] = most[w] < x[c + w] ? x[c + w] : most[w];
    for (std::int64_t c = 0; c < end; c += step)
      for (int w = 0; w < kWidth; ++w) {
        const T e = std::exp(x[c + w] - most[w]);
        y[c + w] = e;
        sum[w] += e;
      }
    for (int w = 0; w < kWidth; ++w) sum[w] = T(1) / sum[w];
    for (std::int64_t c = 0; c < end; c += step)
      for (int w = 0; w < kWidth; ++w) y[c + w] *= sum[w];
  }
  template <int kWidth>
  KOKKOS_INLINE_FUNCTION static void Run(std::int64_t step, std::int64_t end, T* y) {
    Run<kWidth>(step, end, y, y);
  }
};

/// dy may be dx.
template <class T>
struct SoftmaxGradientRow {
  std::int64_t channels;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* y, const T* dy, T* dx) const {
    y += row * channels;
    dy += row * channels;
    dx += row * channels;
    T lane[kRun] = {};
    std::int64_t c = 0;
    for (; c + kRun <= channels; c += kRun)
      for (int l = 0; l < kRun; ++l) lane[l] += y[c + l] * dy[c + l];
    for (; c < channels; ++c) lane[0] += y[c] * dy[c];
    T dot = 0;
    for (const T sum : lane) dot += sum;
    for (c = 0; c + kRun <= channels; c += kRun) {
      for (int l = 0; l < kRun; ++l) lane[l] = (dy[c + l] - dot) * y[c + l];
      for (int l = 0; l < kRun; ++l) dx[c + l] = lane[l];
    }
    for (; c < channels; ++c) dx[c] = (dy[c] - dot) * y[c];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, const T* y, T* dx) const {
    (*this)(row, y, dx, dx);
  }
};

template <class T>
struct SoftmaxGradientColumns {
  template <int kWidth>
  KOKKOS_INLINE_FUNCTION static void Run(std::int64_t step, std::int64_t end, const T* y, const T* dy,
                                         T* dx) {
    T dot[kWidth] = {};
    T out[kWidth] = {};
    for (std::int64_t c = 0; c < end; c += step)
      for (int w = 0; w < kWidth; ++w) dot[w] += y[c + w] * dy[c + w];
    for (std::int64_t c = 0; c < end; c += step) {
      for (int w = 0; w < kWidth; ++w) out[w] = (dy[c + w] - dot[w]) * y[c + w];
      for (int w = 0; w < kWidth; ++w) dx[c + w] = out[w];
    }
  }
  template <int kWidth>
  KOKKOS_INLINE_FUNCTION static void Run(std::int64_t step, std::int64_t end, const T* y, T* dx) {
    Run<kWidth>(step, end, y, dx, dx);
  }
};

/// y = exp(x) / (the sum of exp(x) along the column), computed without overflow.
template <class T>
void SoftmaxForward(const Place& place, const Columns& columns, Blob<T>& x, Blob<T>& y) {
  const auto run = [&](const auto&... operands) {
    ForColumns<SoftmaxColumns<T>>(place, columns, SoftmaxRow<T>{columns.channels}, operands...);
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
    ForColumns<SoftmaxGradientColumns<T>>(place, columns, SoftmaxGradientRow<T>{columns.channels},
                                          operands...);
  };
  if (&x == &y)
    run(Read(y), ReadWrite(Diff(x)));
  else
    run(Read(y), Read(Diff(y)), Overwrite(Diff(x)));
}

}  // namespace ferry::detail
