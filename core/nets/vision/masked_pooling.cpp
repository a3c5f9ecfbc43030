// SPDX-License-Identifier: BSD-2-Clause
#include <type_traits>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/pool_parts.hpp"
#include "core/nets/vision/pooling.hpp"

namespace ferry::detail {
namespace {

/// The sum of x[h, w] over a window, in row-major order.
template <class T>
struct WindowSum {
  const T* image;
  std::int64_t width;
  PoolAxis::Span rows, columns;

  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void ForEach(const Use& use) const {
    for (std::int64_t h = rows.first; h < rows.last; ++h)
      for (std::int64_t w = columns.first; w < columns.last; ++w) use(h * width + w, image[h * width + w]);
  }
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION WindowSum<T> WindowAt(const PoolSizes& sizes, const T* x, std::int64_t index) {
  const std::int64_t row = index / sizes.w.pooled, plane = row / sizes.h.pooled;
  return {x + plane * sizes.Plane(), sizes.w.size, sizes.h.WindowAt(row - plane * sizes.h.pooled),
          sizes.w.WindowAt(index - row * sizes.w.pooled)};
}

template <class T, class Index>
struct SampleWindow {
  PoolSizes sizes;
  Philox random;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* y, Index* mask) const {
    const WindowSum<T> window = WindowAt(sizes, x, index);
    T sum = 0;
    window.ForEach([&sum](std::int64_t /*at*/, T value) { sum += value; });
    // In (0, 1], so that an element that is 0 is chosen only where all are.
    const T bound = static_cast<T>(1 - random.Uniform(static_cast<std::uint64_t>(index))) * sum;
    std::int64_t chosen = -1;
    T before = 0, found = 0;
    bool done = false;
    window.ForEach([&](std::int64_t at, T value) {
      if (done) return;
      before += value;
      chosen = at;
      found = value;
      done = before >= bound;
    });
    y[index] = found;
    mask[index] = static_cast<Index>(chosen);
  }
};

/// A plane each: windows add their gradient to the element that they have chosen.
template <class T, class Index>
struct WindowsAdd {
  PoolSizes sizes;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t plane, const T* dy, const Index* mask,
                                              T* dx) const {
    const std::int64_t size = sizes.Plane(), pooled = sizes.PooledPlane();
    T* const to = dx + plane * size;
    for (std::int64_t i = 0; i < size; ++i) to[i] = 0;
    for (std::int64_t i = plane * pooled; i < (plane + 1) * pooled; ++i) {
      const auto at = static_cast<std::int64_t>(mask[i]);
      if (at >= 0 && at < size) to[at] += dy[i];
    }
  }
};

/// An element each: it asks the windows that cover it.
template <class T, class Index>
struct ElementsAsk {
  PoolSizes sizes;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* dy, const Index* mask,
                                              T* dx) const {
    const std::int64_t plane = index / sizes.Plane(), at = index - plane * sizes.Plane();
    const std::int64_t h = at / sizes.w.size, w = at - h * sizes.w.size;
    const std::int64_t last_h = sizes.h.LastWindow(h), last_w = sizes.w.LastWindow(w);
    T sum = 0;
    for (std::int64_t i = sizes.h.FirstWindow(h); i < last_h; ++i)
      for (std::int64_t j = sizes.w.FirstWindow(w); j < last_w; ++j) {
        const std::int64_t window = (plane * sizes.h.pooled + i) * sizes.w.pooled + j;
        if (static_cast<std::int64_t>(mask[window]) == at) sum += dy[window];
      }
    dx[index] = sum;
  }
};

}  // namespace

template <Real T, class Index>
void SamplePool(const At& at, const PoolSizes& sizes, const Philox& random, const Operand<const T>& x,
                const Operand<T>& y, const Operand<Index>& mask) {
  ParallelFor(at, y.count(), x, y, mask, SampleWindow<T, Index>{sizes, random});
}

template <Real T>
void ExpectedPool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y) {
  ParallelFor(
      at, y.count(), x, y, KOKKOS_LAMBDA(std::int64_t index, const T* from, T* to) {
        T sum = 0, squares = 0;
        WindowAt(sizes, from, index).ForEach([&](std::int64_t /*at*/, T value) {
          sum += value;
          squares += value * value;
        });
        to[index] = sum > 0 ? squares / sum : T(0);
      });
}

template <Real T, class Index>
void MaskedPoolGradient(const At& at, const PoolSizes& sizes, Grain grain, const Operand<const T>& dy,
                        const Operand<const Index>& mask, const Operand<T>& dx) {
  if (grain == Grain::kElement)
    return ParallelFor(at, dx.count(), dy, mask, dx, ElementsAsk<T, Index>{sizes});
  if constexpr (std::is_same_v<T, float> && std::is_integral_v<Index>) {
    const auto run = strips::LargestGradient<Index>(WindowsOf(sizes, sizes.w.size));
    if (ByStrips(at, sizes, sizes.h.size, run, dy, mask, dx)) return;
  }
  ParallelFor(at, sizes.planes, dy, mask, dx, WindowsAdd<T, Index>{sizes});
}

#define FERRY_INSTANTIATE_WITH(T, Index)                                                        \
  template void SamplePool(const At&, const PoolSizes&, const Philox&, const Operand<const T>&, \
                           const Operand<T>&, const Operand<Index>&);                           \
  template void MaskedPoolGradient(const At&, const PoolSizes&, Grain, const Operand<const T>&, \
                                   const Operand<const Index>&, const Operand<T>&)
#define FERRY_INSTANTIATE(T)                \
  FERRY_INSTANTIATE_WITH(T, std::uint16_t); \
  FERRY_INSTANTIATE_WITH(T, int);           \
  FERRY_INSTANTIATE_WITH(T, T);             \
  template void ExpectedPool(const At&, const PoolSizes&, const Operand<const T>&, const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE
#undef FERRY_INSTANTIATE_WITH

}  // namespace ferry::detail
