// SPDX-License-Identifier: BSD-2-Clause
#include <cfloat>
#include <type_traits>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pooling.hpp"

namespace ferry::detail {
namespace {

/// kLanes windows beside each other, and the best elements that they have seen so far.
template <class T, int kLanes, int kStride>
struct MaxPoolLanes {
  /// As wide as T, so that both fit the same vectors.
  using Position = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

  T best[kLanes];
  Position at[kLanes];

  KOKKOS_FORCEINLINE_FUNCTION MaxPoolLanes() {
    for (int lane = 0; lane < kLanes; ++lane) {
      best[lane] = static_cast<T>(-FLT_MAX);
      at[lane] = -1;
    }
  }
  /// Lane i looks at x[i * stride], which is element position + i * stride of its plane.
  KOKKOS_FORCEINLINE_FUNCTION void Look(const T* x, Position position, Position stride) {
    const Position step = kStride != 0 ? kStride : stride;
    for (int lane = 0; lane < kLanes; ++lane) {
      const T value = x[lane * step];
      const bool more = value > best[lane];
      best[lane] = more ? value : best[lane];
      at[lane] = more ? position + lane * step : at[lane];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void LookSome(const T* x, Position position, Position stride, int first,
                                            int last) {
    const Position step = kStride != 0 ? kStride : stride;
    for (int lane = first; lane < last; ++lane) {
      const T value = x[lane * step];
      const bool more = value > best[lane];
      best[lane] = more ? value : best[lane];
      at[lane] = more ? position + lane * step : at[lane];
    }
  }
};

template <class T, class Index, int kLanes, int kStride>
struct MaxPoolRow {
  PoolSizes sizes;
  Lanes lanes;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y, Index* mask) const {
    using Of = MaxPoolLanes<T, kLanes, kStride>;
    using Position = typename Of::Position;
    const auto [row, first, count] = lanes.At<kLanes>(index);
    const std::int64_t plane = row / sizes.h.pooled;
    const PoolAxis::Span rows = sizes.h.WindowAt(row - plane * sizes.h.pooled);
    const std::int64_t width = sizes.w.size, stride = sizes.w.stride;
    const std::int64_t begin = first * stride - sizes.w.pad;
    const T* const image = x + plane * sizes.Plane();
    Of of;
    for (std::int64_t k = 0; k < sizes.w.kernel; ++k) {}
    for (std::int64_t h = rows.first; h < rows.last; ++h)
      for (std::int64_t k = 0; k < sizes.w.kernel; ++k) {
        const std::int64_t at = h * width + begin + k;
        const LaneRange inside = lanes.Inside(begin + k, stride, width, count);
        if (inside.first == 0 && inside.last == kLanes)
          of.Look(image + at, static_cast<Position>(at), static_cast<Position>(stride));
        else
          of.LookSome(image + at, static_cast<Position>(at), static_cast<Position>(stride), inside.first,
                      inside.last);
      }
    T* const to = y + row * sizes.w.pooled + first;
    Index* const to_mask = mask + row * sizes.w.pooled + first;
    for (int lane = 0; lane < count; ++lane) to[lane] = of.best[lane];
    for (int lane = 0; lane < count; ++lane) to_mask[lane] = static_cast<Index>(of.at[lane]);
  }
};

}  // namespace
}  // namespace ferry::detail
