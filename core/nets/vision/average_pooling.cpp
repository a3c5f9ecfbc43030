// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/lanes.hpp"
#include "core/nets/vision/pooling.hpp"
#include "core/nets/vision/sum.hpp"

namespace ferry::detail {
namespace {

/// Windows beside each other, a lane each.
template <class T, int kParts, int kStride>
struct AveragePoolLanes {
  using Values = Lanes<T, kParts>;
  using Positions = Lanes<PositionOf<T>, kParts>;

  PoolSizes sizes;
  Chunks chunks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y) const {
    const auto [row, begin, end] = chunks[index];
    const std::int64_t plane = row / sizes.h.pooled, width = sizes.w.size;
    const std::int64_t stride = kStride != 0 ? kStride : sizes.w.stride;
    const PoolAxis::Span rows = sizes.h.WindowAt(row - plane * sizes.h.pooled);
    const T* const image = x + plane * sizes.Plane();
    const T* const end_of_all = x + sizes.planes * sizes.Plane();
    Positions steps;
    steps.SetSteps(static_cast<PositionOf<T>>(stride));
    for (std::int64_t first = begin; first < end; first += Values::kCount) {
      const std::int64_t count = end - first < Values::kCount ? end - first : Values::kCount;
      Values sum, value;
      sum.Set(0);
      for (std::int64_t h = rows.first; h < rows.last; ++h)
        for (std::int64_t k = 0; k < sizes.w.kernel; ++k) {
          Load<T, kParts, kStride>({image + h * width, width, x, end_of_all},
                                   first * stride - sizes.w.pad + k, stride, count, steps, T(0), value);
          for (int p = 0; p < Values::kVectors; ++p) sum.part[p] += value.part[p];
        }
      T* const to = y + row * sizes.w.pooled + first;
      if (sizes.w.WindowAt(first + count - 1).padded_size == sizes.w.kernel) {
        for (int p = 0; p < Values::kVectors; ++p)
          sum.part[p] /= static_cast<T>(rows.padded_size * sizes.w.kernel);
        sum.Store(count, to);
      } else {
        sum.Store(count, to);
        for (std::int64_t i = 0; i < count; ++i)
          to[i] /= static_cast<T>(rows.padded_size * sizes.w.WindowAt(first + i).padded_size);
      }
    }
  }
};

template <class T, int kParts>
void Run(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y) {
  const Chunks chunks(at.place(), sizes.w.pooled, sizes.w.pooled);
  const std::int64_t n = sizes.planes * sizes.h.pooled * chunks.per_line;
  if (sizes.w.stride == 1)
    ParallelFor(at, n, x, y, AveragePoolLanes<T, kParts, 1>{sizes, chunks});
  else if (sizes.w.stride == 2)
    ParallelFor(at, n, x, y, AveragePoolLanes<T, kParts, 2>{sizes, chunks});
  else
    ParallelFor(at, n, x, y, AveragePoolLanes<T, kParts, 0>{sizes, chunks});
}

/// The same backwards, for stride 1: no window is cut off at the right, and elements beside each other are in
/// windows beside each other.
template <class T, int kParts>
struct AverageGradientLanes {
  using Values = Lanes<T, kParts>;

  PoolSizes sizes;
  Chunks chunks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* dy, T* dx) const {
    const auto [row, begin, end] = chunks[index];
    const std::int64_t plane = row / sizes.h.size, h = row - plane * sizes.h.size;
    const std::int64_t first_row = sizes.h.FirstWindow(h), last_row = sizes.h.LastWindow(h);
    const T* const end_of_all = dy + sizes.planes * sizes.PooledPlane();
    Lanes<PositionOf<T>, kParts> steps;
    steps.SetSteps(1);
    for (std::int64_t first = begin; first < end; first += Values::kCount) {
      const std::int64_t count = end - first < Values::kCount ? end - first : Values::kCount;
      Values sum, value;
      sum.Set(0);
      for (std::int64_t i = first_row; i < last_row; ++i) {
        const T factor = T(1) / static_cast<T>(sizes.h.WindowAt(i).padded_size * sizes.w.kernel);
        const T* const from = dy + (plane * sizes.h.pooled + i) * sizes.w.pooled;
        for (std::int64_t k = 0; k < sizes.w.kernel; ++k) {
          Load<T, kParts, 1>({from, sizes.w.pooled, dy, end_of_all}, first + sizes.w.pad - k, 1, count, steps,
                             T(0), value);
          for (int p = 0; p < Values::kVectors; ++p) sum.part[p] += value.part[p] * factor;
        }
      }
      sum.Store(count, dx + row * sizes.w.size + first);
    }
  }
};

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
    Run<T, 0>(at, sizes, x, y);
  } else {
    Run<T, kHostParts>(at, sizes, x, y);
  }
}

template <Real T>
void AveragePoolGradient(const At& at, const PoolSizes& sizes, const Operand<const T>& dy,
                         const Operand<T>& dx) {
  if (dx.count() == 0) return;
  if (IsGlobal(sizes)) {
    const std::int64_t plane = sizes.Plane();
    const Chunks chunks(at.place(), plane, plane);
    return ParallelFor(
        at, sizes.planes * chunks.per_line, dy, dx, KOKKOS_LAMBDA(std::int64_t index, const T* from, T* to) {
          const auto [line, first, last] = chunks[index];
          const T value = from[line] / static_cast<T>(plane);
          for (std::int64_t i = line * plane + first; i < line * plane + last; ++i) to[i] = value;
        });
  }
  const Chunks chunks(at.place(), sizes.w.size, sizes.w.size);
  const std::int64_t n = sizes.planes * sizes.h.size * chunks.per_line;
  if (sizes.w.stride != 1)
    ParallelFor(at, n, dy, dx, AverageGradientRow<T>{sizes, chunks});
  else if (OnGpuThreads(at.place()))
    ParallelFor(at, n, dy, dx, AverageGradientLanes<T, 0>{sizes, chunks});
  else
    ParallelFor(at, n, dy, dx, AverageGradientLanes<T, kHostParts>{sizes, chunks});
}

#define FERRY_INSTANTIATE(T)                                                                          \
  template void AveragePool(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&); \
  template void AveragePoolGradient(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
