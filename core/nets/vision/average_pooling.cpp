// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pooling.hpp"
#include "core/nets/vision/sum.hpp"

namespace ferry::detail {
namespace {

/// Windows beside each other, a lane each.
template <class T, int kLanes, int kStride>
struct AveragePoolLanes {
  PoolSizes sizes;
  Chunks chunks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y) const {
    const auto [row, begin, end] = chunks[index];
    const std::int64_t plane = row / sizes.h.pooled, width = sizes.w.size;
    const std::int64_t stride = kStride != 0 ? kStride : sizes.w.stride;
    const PoolAxis::Span rows = sizes.h.WindowAt(row - plane * sizes.h.pooled);
    const Source<T> source{x, x + sizes.planes * sizes.Plane()};
    const T* const image = x + plane * sizes.Plane();
    for (std::int64_t first = begin; first < end; first += kLanes) {
      const std::int64_t count = end - first < kLanes ? end - first : kLanes;
      Lanes<T, kLanes> sum{}, value{};
      for (std::int64_t h = rows.first; h < rows.last; ++h)
        for (std::int64_t k = 0; k < sizes.w.kernel; ++k) {
          const std::int64_t column = first * stride - sizes.w.pad + k;
          Load<T, kLanes, kStride>(source, image + h * width + column, stride,
                                   LanesInside(column, stride, width, count, kLanes), T(0), value);
          sum += value;
        }
      T* const to = y + row * sizes.w.pooled + first;
      for (int lane = 0; lane < count; ++lane)
        to[lane] =
            LaneOf(sum, lane) / static_cast<T>(rows.padded_size * sizes.w.WindowAt(first + lane).padded_size);
    }
  }
};

template <class T, int kLanes>
void Run(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y) {
  const Chunks chunks(at.place(), sizes.w.pooled, sizes.w.pooled);
  const std::int64_t n = sizes.planes * sizes.h.pooled * chunks.per_line;
  if (sizes.w.stride == 1)
    ParallelFor(at, n, x, y, AveragePoolLanes<T, kLanes, 1>{sizes, chunks});
  else if (sizes.w.stride == 2)
    ParallelFor(at, n, x, y, AveragePoolLanes<T, kLanes, 2>{sizes, chunks});
  else
    ParallelFor(at, n, x, y, AveragePoolLanes<T, kLanes, 0>{sizes, chunks});
}

/// A row of the image, or a part of it, to which windows hand on their gradient.
template <class T>
struct AverageGradientRow {
  PoolSizes sizes;
  Chunks chunks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* dy, T* dx) const {
    const auto [row, begin, end] = chunks[index];
    const std::int64_t plane = row / sizes.h.size, h = row - plane * sizes.h.size;
    const std::int64_t stride = sizes.w.stride, pad = sizes.w.pad;
    T* const to = dx + row * sizes.w.size;
    for (std::int64_t w = begin; w < end; ++w) to[w] = 0;
    const std::int64_t last_row = sizes.h.LastWindow(h), last = sizes.w.LastWindow(end - 1);
    // Those whose size is not cut off at the right are beside each other.
    const std::int64_t room = sizes.w.size + 2 * pad - sizes.w.kernel;
    const std::int64_t whole = room < 0 ? 0 : room / stride + 1;
    for (std::int64_t i = sizes.h.FirstWindow(h); i < last_row; ++i) {
      const T* const from = dy + (plane * sizes.h.pooled + i) * sizes.w.pooled;
      const std::int64_t rows = sizes.h.WindowAt(i).padded_size;
      const std::int64_t first = sizes.w.FirstWindow(begin), last_whole = last < whole ? last : whole;
      const T factor = T(1) / static_cast<T>(rows * sizes.w.kernel);
      for (std::int64_t k = 0; k < sizes.w.kernel; ++k) {
        const std::int64_t shift = k - pad;
        std::int64_t j = begin - shift > 0 ? (begin - shift + stride - 1) / stride : 0;
        j = j < first ? first : j;
        std::int64_t until = end - shift > 0 ? (end - shift + stride - 1) / stride : 0;
        until = until < last_whole ? until : last_whole;
        if (stride == 1)
          for (; j < until; ++j) to[j + shift] += from[j] * factor;
        else
          for (; j < until; ++j) to[j * stride + shift] += from[j] * factor;
      }
      for (std::int64_t j = first < whole ? whole : first; j < last; ++j) {
        const PoolAxis::Span span = sizes.w.WindowAt(j);
        const T part = from[j] / static_cast<T>(rows * span.padded_size);
        const std::int64_t from_w = span.first < begin ? begin : span.first;
        const std::int64_t to_w = span.last < end ? span.last : end;
        for (std::int64_t w = from_w; w < to_w; ++w) to[w] += part;
      }
    }
  }
};

/// Whether there is one window, over all rows and columns.
bool IsGlobal(const PoolSizes& sizes) {
  const auto all = [](const PoolAxis& axis) {
    return axis.pooled == 1 && axis.pad == 0 && axis.kernel == axis.size;
  };
  return all(sizes.h) && all(sizes.w);
}

}  // namespace

template <Real T>
void AveragePool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y) {
  if (y.count() == 0) return;
  if (IsGlobal(sizes)) {
    const std::int64_t plane = sizes.Plane();
    ParallelFor(
        at, sizes.planes, x, y, KOKKOS_LAMBDA(std::int64_t index, const T* from, T* to) {
          to[index] = Sum(from + index * plane, plane) / static_cast<T>(plane);
        });
  } else if (OnGpuThreads(at.place())) {
    Run<T, 1>(at, sizes, x, y);
  } else {
    Run<T, kHostLanes<T>>(at, sizes, x, y);
  }
}

template <Real T>
void AveragePoolGradient(const At& at, const PoolSizes& sizes, const Operand<const T>& dy,
                         const Operand<T>& dx) {
  if (dx.count() == 0) return;
  const Chunks chunks(at.place(), sizes.w.size, sizes.w.size);
  ParallelFor(at, sizes.planes * sizes.h.size * chunks.per_line, dy, dx,
              AverageGradientRow<T>{sizes, chunks});
}

#define FERRY_INSTANTIATE(T)                                                                          \
  template void AveragePool(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&); \
  template void AveragePoolGradient(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
