// SPDX-License-Identifier: BSD-2-Clause
#include <cfloat>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pooling.hpp"

namespace ferry::detail {
namespace {

/// Windows beside each other, a lane each.
template <class T, class Index, int kLanes, int kStride>
struct MaxPoolLanes {
  PoolSizes sizes;
  Chunks chunks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y, Index* mask) const {
    using Position = PositionOf<T>;
    const auto [row, begin, end] = chunks[index];
    const std::int64_t plane = row / sizes.h.pooled, width = sizes.w.size;
    const std::int64_t stride = kStride != 0 ? kStride : sizes.w.stride, kernel = sizes.w.kernel;
    const PoolAxis::Span rows = sizes.h.WindowAt(row - plane * sizes.h.pooled);
    const Source<T> source{x, x + sizes.planes * sizes.Plane()};
    const T* const image = x + plane * sizes.Plane();
    Lanes<Position, kLanes> steps{};  // NOLINT(misc-const-correctness): of several lanes it changes
    if constexpr (kLanes > 1)
      for (int lane = 0; lane < kLanes; ++lane) steps[lane] = static_cast<Position>(lane * stride);
    for (std::int64_t first = begin; first < end; first += kLanes) {
      const std::int64_t count = end - first < kLanes ? end - first : kLanes;
      Lanes<T, kLanes> best = Lanes<T, kLanes>{} - static_cast<T>(FLT_MAX), value{};
      Lanes<Position, kLanes> at = Lanes<Position, kLanes>{} - Position{1};
      for (std::int64_t h = rows.first; h < rows.last; ++h)
        for (std::int64_t k = 0; k < kernel; ++k) {
          const std::int64_t column = first * stride - sizes.w.pad + k, position = h * width + column;
          Load<T, kLanes, kStride>(source, image + position, stride,
                                   LanesInside(column, stride, width, count, kLanes),
                                   static_cast<T>(-FLT_MAX), value);
          const auto more = value > best;
          best = more ? value : best;
          at = more ? steps + static_cast<Position>(position) : at;
        }
      const std::int64_t to = row * sizes.w.pooled + first;
      for (int lane = 0; lane < count; ++lane) y[to + lane] = LaneOf(best, lane);
      for (int lane = 0; lane < count; ++lane) mask[to + lane] = static_cast<Index>(LaneOf(at, lane));
    }
  }
};

template <class T, class Index, int kLanes>
void Run(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y,
         const Operand<Index>& mask) {
  const Chunks chunks(at.place(), sizes.w.pooled, sizes.w.pooled);
  const std::int64_t n = sizes.planes * sizes.h.pooled * chunks.per_line;
  if (sizes.w.stride == 1)
    ParallelFor(at, n, x, y, mask, MaxPoolLanes<T, Index, kLanes, 1>{sizes, chunks});
  else if (sizes.w.stride == 2)
    ParallelFor(at, n, x, y, mask, MaxPoolLanes<T, Index, kLanes, 2>{sizes, chunks});
  else
    ParallelFor(at, n, x, y, mask, MaxPoolLanes<T, Index, kLanes, 0>{sizes, chunks});
}

}  // namespace

template <Real T, class Index>
void MaxPool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y,
             const Operand<Index>& mask) {
  if (y.count() == 0) return;
  if (OnGpuThreads(at.place()))
    Run<T, Index, 1>(at, sizes, x, y, mask);
  else
    Run<T, Index, kHostLanes<T>>(at, sizes, x, y, mask);
}

#define FERRY_INSTANTIATE(T, Index)                                                              \
  template void MaxPool(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&, \
                        const Operand<Index>&)
FERRY_INSTANTIATE(float, int);
FERRY_INSTANTIATE(float, float);
FERRY_INSTANTIATE(double, int);
FERRY_INSTANTIATE(double, double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
