// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pool_parts.hpp"
#include "core/nets/vision/pooling.hpp"

/// Pooling by a Reduction, which says what becomes of the elements of windows:
///
///     struct Reduction {
///       template <int kParts>
///       struct Of {  // windows beside each other, a lane each; one where kParts is 0
///         Of(const Reduction&, std::int64_t stride);  // kSame for one window in lanes
///         void Take(const Lanes<T, kParts>& elements, std::int64_t position);  // of lane 0, in the plane
///         void Store(T size, std::int64_t count, To*... to);  // size with padding; count lanes
///       };
///     };
///
/// On the host, windows of the usual sizes are pooled by strips instead.
namespace ferry::detail {

/// Reduces the elements of a window in these rows and columns; or in each lane those of a window that lies a
/// stride behind the one before it.
template <int kParts, int kStride, class T, class Reduction, class... To>
KOKKOS_FORCEINLINE_FUNCTION void Reduce(const Reduction& reduction, const PoolSizes& sizes, const T* image,
                                        const PoolAxis::Span& rows, const PoolAxis::Span& columns,
                                        std::int64_t count, To*... to) {
  const std::int64_t width = sizes.w.size, stride = kStride != 0 ? kStride : sizes.w.stride;
  typename Reduction::template Of<kParts> windows(reduction, stride);
  for (std::int64_t h = rows.first; h < rows.last; ++h) {
    for (std::int64_t at = h * width + columns.first; at < h * width + columns.last; ++at) {
      Lanes<T, kParts> elements;
      elements.template Load<kStride>(image + at, stride);
      windows.Take(elements, at);
    }
  }
  windows.Store(static_cast<T>(rows.padded_size * columns.padded_size), count, to...);
}

/// A window each, for a thread of a GPU.
template <class T, class Reduction>
struct PoolWindow {
  PoolSizes sizes;
  Reduction reduction;

  template <class... To>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, To*... to) const {
    const std::int64_t row = index / sizes.w.pooled, plane = row / sizes.h.pooled;
    Reduce<0, 0>(reduction, sizes, x + plane * sizes.Plane(), sizes.h.WindowAt(row - plane * sizes.h.pooled),
                 sizes.w.WindowAt(index - row * sizes.w.pooled), 1, (to + index)...);
  }
};

/// A part of the windows: many at once where they have all of their columns, and the others one by one.
template <class T, class Reduction, int kStride>
class PoolRows {
 public:
  PoolRows(const PoolSizes& sizes, const Reduction& reduction)
      : sizes_(sizes),
        reduction_(reduction),
        whole_(sizes.w.WholeWindows()),
        parts_(sizes.planes, sizes.h.pooled) {}

  std::int64_t Count() const { return parts_.Count(); }

  template <class... To>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, To*... to) const {
    const strips::Part part = parts_[index];
    for (std::int64_t plane = part.first_plane; plane < part.last_plane; ++plane)
      Rows(plane, part.first_row, part.last_row, x, to...);
  }

 private:
  template <class... To>
  KOKKOS_FORCEINLINE_FUNCTION void Rows(std::int64_t plane, std::int64_t first, std::int64_t last, const T* x,
                                        To*... to) const {
    const std::int64_t n = sizes_.w.pooled;
    std::int64_t at = (plane * sizes_.h.pooled + first) * n;
    for (std::int64_t i = first; i < last; ++i, at += n) {
      const PoolAxis::Span rows = sizes_.h.WindowAt(i);
      std::int64_t j = 0;
      if constexpr (kHostParts != 0) {
        for (; j < whole_.first; ++j) One(plane, x, rows, j, (to + at + j)...);
        j = Many(plane, x, rows, j, (to + at)...);
      }
      for (; j < n; ++j) One(plane, x, rows, j, (to + at + j)...);
    }
  }
  /// In lanes, too, which choose without a jump.
  template <class... To>
  KOKKOS_FORCEINLINE_FUNCTION void One(std::int64_t plane, const T* x, const PoolAxis::Span& rows,
                                       std::int64_t window, To*... to) const {
    constexpr int kOne = kHostParts == 0 ? 0 : 1;
    Reduce<kOne, kSame>(reduction_, sizes_, x + plane * sizes_.Plane(), rows, sizes_.w.WindowAt(window), 1,
                        to...);
  }
  /// From window j on, of those that have all of their columns. Returns the first that is not done: if just
  /// one is left, or if lanes might lie beyond all planes, it is one of these.
  template <class... To>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t Many(std::int64_t plane, const T* x, const PoolAxis::Span& rows,
                                                std::int64_t j, To*... to) const {
    constexpr std::int64_t kMost = Lanes<T, kHostParts>::kCount, kFew = Lanes<T, 1>::kCount;
    const std::int64_t stride = kStride != 0 ? kStride : sizes_.w.stride;
    const std::int64_t room = (sizes_.planes - plane) * sizes_.Plane() - (rows.last - 1) * sizes_.w.size;
    while (whole_.last - j > 1) {
      const std::int64_t left = whole_.last - j, lanes = left > kFew ? kMost : kFew;
      const std::int64_t first = j * stride - sizes_.w.pad;
      const PoolAxis::Span columns{first, first + sizes_.w.kernel, sizes_.w.kernel};
      if (columns.last - 1 + lanes * stride > room) break;
      const std::int64_t count = left < lanes ? left : lanes;
      if (left > kFew)
        Reduce<kHostParts, kStride>(reduction_, sizes_, x + plane * sizes_.Plane(), rows, columns, count,
                                    (to + j)...);
      else
        Reduce<1, kStride>(reduction_, sizes_, x + plane * sizes_.Plane(), rows, columns, count, (to + j)...);
      j += count;
    }
    return j;
  }

  PoolSizes sizes_;
  Reduction reduction_;
  PoolAxis::Windows whole_;
  PoolParts parts_;
};

/// y, and what else there is for each window.
template <class T, class Reduction, class... To>
void Pool(const At& at, const PoolSizes& sizes, const Reduction& reduction,
          strips::Run<const T, To...> by_strips, const Operand<const T>& x, const Operand<To>&... to) {
  const std::int64_t windows = sizes.planes * sizes.PooledPlane();
  const auto by_parts = [&](const auto& parts) { ParallelFor(at, parts.Count(), x, to..., parts); };
  if (windows == 0 || ByStrips(at, sizes, sizes.h.pooled, by_strips, x, to...)) return;
  if (OnGpuThreads(at.place()))
    ParallelFor(at, windows, x, to..., PoolWindow<T, Reduction>{sizes, reduction});
  else if (sizes.w.stride == 1)
    by_parts(PoolRows<T, Reduction, 1>(sizes, reduction));
  else if (sizes.w.stride == 2)
    by_parts(PoolRows<T, Reduction, 2>(sizes, reduction));
  else
    by_parts(PoolRows<T, Reduction, 0>(sizes, reduction));
}

}  // namespace ferry::detail
