// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/window.hpp"
#include "ferry/detail/kokkos/series.hpp"

namespace ferry::detail {

/// Writes, for `channels` images after each other, a column matrix each: a row for each element of the
/// window, a column for each of its positions. What the window sees beyond the image is 0.
template <Real T>
void Im2col(const Series& series, const Window& window, Grain grain, std::int64_t channels, const T* images,
            T* columns);

/// The transposed map: each element of the images becomes the sum of all that Im2col would copy it to.
template <Real T>
void Col2im(const Series& series, const Window& window, Grain grain, std::int64_t channels, const T* columns,
            T* images);

/// One of the two as a call of its own.
template <Real T>
void RunColumns(const At& at, void (*map)(const Series&, const Window&, Grain, std::int64_t, const T*, T*),
                const Window& window, Grain grain, std::int64_t channels, const Operand<const T>& from,
                const Operand<T>& to) {
  const auto work = [=](const Series& series, const T* x, T* y) {
    map(series, window, grain, channels, x, y);
  };
  RunSeries(at, work, from, to);
}

}  // namespace ferry::detail
