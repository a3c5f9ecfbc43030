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
/// The same as a call of its own.
template <Real T>
void Im2col(const At& at, const Window& window, Grain grain, std::int64_t channels,
            const Operand<const T>& images, const Operand<T>& columns);

/// The transposed map: each element of the images becomes the sum of all that Im2col would copy it to.
template <Real T>
void Col2im(const Series& series, const Window& window, Grain grain, std::int64_t channels, const T* columns,
            T* images);
template <Real T>
void Col2im(const At& at, const Window& window, Grain grain, std::int64_t channels,
            const Operand<const T>& columns, const Operand<T>& images);

}  // namespace ferry::detail
