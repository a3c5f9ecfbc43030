// SPDX-License-Identifier: BSD-2-Clause
#include <type_traits>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/pool_windows.hpp"
#include "core/nets/vision/sum.hpp"

namespace ferry::detail {
namespace {

/// The sum of a window's elements, divided by its size.
template <class T>
struct Mean {
  template <int kParts>
  class Of {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Of(const Mean& /*of*/, std::int64_t /*stride*/) { sum_.Set(0); }
    KOKKOS_FORCEINLINE_FUNCTION void Take(const Lanes<T, kParts>& elements, std::int64_t /*position*/) {
      for (int p = 0; p < Lanes<T, kParts>::kVectors; ++p) sum_.part[p] += elements.part[p];
    }
    KOKKOS_FORCEINLINE_FUNCTION void Store(T size, std::int64_t count, T* y) {
      for (int p = 0; p < Lanes<T, kParts>::kVectors; ++p) sum_.part[p] /= size;
      sum_.Store(count, y);
    }

   private:
    Lanes<T, kParts> sum_;
  };
};

/// Where windows move by one, elements beside each other are in windows beside each other: the gradient pools
/// that of the windows, each by 1 / their size. None is cut off.
template <class T>
struct MeanShares {
  T factor;

  template <int kParts>
  class Of {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Of(const MeanShares& shares, std::int64_t /*stride*/)
        : factor_(shares.factor) {
      sum_.Set(0);
    }
    KOKKOS_FORCEINLINE_FUNCTION void Take(const Lanes<T, kParts>& gradients, std::int64_t /*position*/) {
      for (int p = 0; p < Lanes<T, kParts>::kVectors; ++p) sum_.part[p] += gradients.part[p] * factor_;
    }
    KOKKOS_FORCEINLINE_FUNCTION void Store(T /*size*/, std::int64_t count, T* dx) const {
      sum_.Store(count, dx);
    }

   private:
    T factor_;
    Lanes<T, kParts> sum_;
  };
};

/// Of an axis along which windows move by one: for each element, the windows that cover it.
PoolAxis Backwards(const PoolAxis& axis) {
  return {axis.pooled, axis.kernel, 1, axis.kernel - 1 - axis.pad, axis.size};
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
  const auto all = [](const PoolAxis& axis) { return axis.pad == 0 && axis.kernel == axis.size; };
  return all(sizes.h) && all(sizes.w);
}

}  // namespace

template <Real T>
void AveragePool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y) {
  if (!IsGlobal(sizes)) {
    strips::Run<const T, T> by_strips = nullptr;
    if constexpr (std::is_same_v<T, float>) by_strips = strips::Mean(WindowsOf(sizes, sizes.w.pooled));
    return Pool(at, sizes, Mean<T>{}, by_strips, x, y);
  }
  const std::int64_t plane = sizes.Plane();
  if constexpr (std::is_same_v<T, float>)
    if (ByStrips(at, sizes, 1, strips::MeanOfAll(plane), x, y)) return;
  ParallelFor(
      at, sizes.planes, x, y, KOKKOS_LAMBDA(std::int64_t index, const T* from, T* to) {
        to[index] = Sum(from + index * plane, plane) / static_cast<T>(plane);
      });
}

template <Real T>
void AveragePoolGradient(const At& at, const PoolSizes& sizes, const Operand<const T>& dy,
                         const Operand<T>& dx) {
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
  if constexpr (std::is_same_v<T, float>) {
    const auto run = strips::Shares(WindowsOf(sizes, sizes.w.size));
    if (ByStrips(at, sizes, sizes.h.size, run, dy, dx)) return;
  }
  if (sizes.h.stride == 1 && sizes.w.stride == 1) {
    const PoolSizes back{sizes.planes, Backwards(sizes.h), Backwards(sizes.w)};
    const T share = T(1) / static_cast<T>(sizes.h.kernel * sizes.w.kernel);
    return Pool(at, back, MeanShares<T>{share}, strips::Run<const T, T>(nullptr), dy, dx);
  }
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
