// SPDX-License-Identifier: BSD-2-Clause
#include <cfloat>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pooling.hpp"

namespace ferry::detail {
namespace {

/// Windows beside each other, a lane each.
template <class T, class Index, int kParts, int kStride>
struct MaxPoolLanes {
  using Values = Lanes<T, kParts>;
  using Positions = Lanes<PositionOf<T>, kParts>;

  PoolSizes sizes;
  Chunks chunks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y, Index* mask) const {
    const auto [row, begin, end] = chunks[index];
    const std::int64_t plane = row / sizes.h.pooled, width = sizes.w.size;
    const std::int64_t stride = kStride != 0 ? kStride : sizes.w.stride, kernel = sizes.w.kernel;
    const PoolAxis::Span rows = sizes.h.WindowAt(row - plane * sizes.h.pooled);
    const T* const image = x + plane * sizes.Plane();
    const T* const end_of_all = x + sizes.planes * sizes.Plane();
    Positions steps;
    steps.SetSteps(static_cast<PositionOf<T>>(stride));
    for (std::int64_t first = begin; first < end; first += Values::kCount) {
      const std::int64_t count = end - first < Values::kCount ? end - first : Values::kCount;
      Values best, value;
      Positions at;
      best.Set(static_cast<T>(-FLT_MAX));
      at.Set(-1);
      for (std::int64_t h = rows.first; h < rows.last; ++h)
        for (std::int64_t k = 0; k < kernel; ++k) {
          const std::int64_t column = first * stride - sizes.w.pad + k;
          Load<T, kParts, kStride>({image + h * width, width, x, end_of_all}, column, stride, count, steps,
                                   static_cast<T>(-FLT_MAX), value);
          const auto position = static_cast<PositionOf<T>>(h * width + column);
          for (int p = 0; p < Values::kVectors; ++p) {
            const auto more = value.part[p] > best.part[p];
            best.part[p] = more ? value.part[p] : best.part[p];
            at.part[p] = more ? steps.part[p] + position : at.part[p];
          }
        }
      best.Store(count, y + row * sizes.w.pooled + first);
      at.Store(count, mask + row * sizes.w.pooled + first);
    }
  }
};

template <class T, class Index, int kParts>
void Run(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y,
         const Operand<Index>& mask) {
  const Chunks chunks(at.place(), sizes.w.pooled, sizes.w.pooled);
  const std::int64_t n = sizes.planes * sizes.h.pooled * chunks.per_line;
  if (sizes.w.stride == 1)
    ParallelFor(at, n, x, y, mask, MaxPoolLanes<T, Index, kParts, 1>{sizes, chunks});
  else if (sizes.w.stride == 2)
    ParallelFor(at, n, x, y, mask, MaxPoolLanes<T, Index, kParts, 2>{sizes, chunks});
  else
    ParallelFor(at, n, x, y, mask, MaxPoolLanes<T, Index, kParts, 0>{sizes, chunks});
}

}  // namespace

template <Real T, class Index>
void MaxPool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y,
             const Operand<Index>& mask) {
  if (y.count() == 0) return;
  if (OnGpuThreads(at.place()))
    Run<T, Index, 0>(at, sizes, x, y, mask);
  else
    Run<T, Index, kHostParts>(at, sizes, x, y, mask);
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
