// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/im2col.hpp"

#include <type_traits>

#include "core/nets/vision/lanes.hpp"

namespace ferry::detail {
namespace {

/// The number of j from 0 on with j * stride + shift < bound, at most `most`.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t CountBelow(std::int64_t bound, std::int64_t shift,
                                                    std::int64_t stride, std::int64_t most) {
  const std::int64_t distance = bound - shift;
  if (distance <= 0) return 0;
  const std::int64_t count = stride == 1 ? distance : (distance + stride - 1) / stride;
  return count < most ? count : most;
}

/// Which positions of the window along an axis have one of its elements on the image: from `first` up to, not
/// including, `last`.
struct Seen {
  std::int64_t first, last;
};

/// Calls plane(from, lines, columns) for each plane of a row of a column matrix: for all positions of the
/// window along the last two axes. Its element is on the image for those `lines` of positions along the first
/// of the two and those `columns` along the second; at the first of all positions it is on element `from` of
/// the images, or beside them. The window has kAxes axes, or any number where that is 0.
template <int kAxes, class Plane>
KOKKOS_FORCEINLINE_FUNCTION void ForEachPlane(const Window& window, std::int64_t row, const Plane& plane) {
  const int inner = (kAxes != 0 ? kAxes : window.axes) - 1, outer = inner - 1;
  std::int64_t shift[kMostSpatialAxes], position[kMostSpatialAxes];
  std::int64_t channel = row;
  for (int axis = inner; axis >= 0; --axis) {
    shift[axis] = channel % window.kernel[axis] * window.dilation[axis] - window.pad[axis];
    channel /= window.kernel[axis];
    position[axis] = 0;
  }
  const auto seen_along = [&](int axis) {
    const std::int64_t stride = window.stride[axis], steps = window.steps[axis];
    return Seen{CountBelow(0, shift[axis], stride, steps),
                CountBelow(window.image[axis], shift[axis], stride, steps)};
  };
  const Seen lines = seen_along(outer), columns = seen_along(inner);
  for (int axis = outer; axis >= 0;) {
    std::int64_t image = channel;
    bool inside = true;
    for (int i = 0; i < outer; ++i) {
      const std::int64_t at = position[i] * window.stride[i] + shift[i];
      inside = inside && at >= 0 && at < window.image[i];
      image = image * window.image[i] + at;
    }
    plane((image * window.image[outer] + shift[outer]) * window.image[inner] + shift[inner],
          inside ? lines : Seen{0, 0}, columns);
    for (axis = outer - 1; axis >= 0 && ++position[axis] == window.steps[axis]; --axis) position[axis] = 0;
  }
}

/// Lines of n elements, which begin `from_step` and `to_step` elements behind each other: they are copied, or
/// with kAdd added to what is there. By strips of a few vectors of all lines, as lines are too short for what
/// a compiler makes of a loop.
template <class T, bool kAdd>
struct MoveLines {
  const T* from;
  T* to;
  std::int64_t from_step, to_step, lines, n;

  KOKKOS_FORCEINLINE_FUNCTION void operator()() const {
    using Vector = typename Lanes<T, kHostParts>::Vector;
    constexpr std::int64_t kLanes = Lanes<T, kHostParts>::kWidth;
    std::int64_t i = 0;
    for (; i + 4 * kLanes <= n; i += 4 * kLanes) Strip<Vector, kLanes, 4>(i);
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) Strip<Vector, kLanes, 2>(i);
    for (; i + kLanes <= n; i += kLanes) Strip<Vector, kLanes, 1>(i);
    for (; i < n; ++i) Strip<T, 1, 1>(i);
  }

 private:
  template <class Vector, std::int64_t kLanes, int kVectors>
  KOKKOS_FORCEINLINE_FUNCTION void Strip(std::int64_t first) const {
    const T* x = from + first;
    T* y = to + first;
    for (std::int64_t left = lines; left > 0; --left, x += from_step, y += to_step)
      for (int i = 0; i < kVectors; ++i) {
        Vector moved;
        __builtin_memcpy(&moved, x + i * kLanes, sizeof moved);
        if constexpr (kAdd) {
          Vector there;
          __builtin_memcpy(&there, y + i * kLanes, sizeof there);
          moved += there;
        }
        __builtin_memcpy(y + i * kLanes, &moved, sizeof moved);
      }
  }
};

/// A row of a column matrix.
template <class T, int kAxes>
struct FillRow {
  Window window;
  std::int64_t positions;  ///< of the window

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, const T* x, T* columns) const {
    const int inner = (kAxes != 0 ? kAxes : window.axes) - 1;
    const std::int64_t steps = window.steps[inner], stride = window.stride[inner];
    const std::int64_t next = window.stride[inner - 1] * window.image[inner];
    const std::int64_t plane = window.steps[inner - 1] * steps;
    T* y = columns + row * positions;
    ForEachPlane<kAxes>(window, row, [&](std::int64_t from, Seen lines, Seen seen) {
      const std::int64_t n = seen.last - seen.first;
      if (n < steps || lines.last - lines.first < window.steps[inner - 1])
        for (std::int64_t i = 0; i < plane; ++i) y[i] = 0;
      const T* line = x + from + lines.first * next + seen.first * stride;
      T* to = y + lines.first * steps + seen.first;
      const std::int64_t count = lines.last - lines.first;
      if (stride == 1)
        MoveLines<T, false>{line, to, next, steps, count, n}();
      else
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t j = 0; j < n; ++j) to[i * steps + j] = line[i * next + j * stride];
      y += plane;
    });
  }
};

/// The image of a channel, to which each row of the matrix adds what it has copied.
template <class T, int kAxes>
struct RowsAdd {
  Window window;
  std::int64_t positions, pixels, kernels;  ///< of the window, of an image, and elements of the window

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t channel, const T* columns, T* images) const {
    const int inner = (kAxes != 0 ? kAxes : window.axes) - 1;
    const std::int64_t steps = window.steps[inner], stride = window.stride[inner];
    const std::int64_t next = window.stride[inner - 1] * window.image[inner];
    for (std::int64_t i = channel * pixels; i < (channel + 1) * pixels; ++i) images[i] = 0;
    if (positions == 0) return;
    for (std::int64_t row = channel * kernels; row < (channel + 1) * kernels; ++row) {
      const T* x = columns + row * positions;
      ForEachPlane<kAxes>(window, row, [&](std::int64_t at, Seen lines, Seen seen) {
        const T* from = x + lines.first * steps + seen.first;
        T* to = images + at + lines.first * next + seen.first * stride;
        const std::int64_t n = seen.last - seen.first, count = lines.last - lines.first;
        if (stride == 1)
          MoveLines<T, true>{from, to, steps, next, count, n}();
        else
          for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t j = 0; j < n; ++j) to[i * next + j * stride] += from[i * steps + j];
        x += window.steps[inner - 1] * steps;
      });
    }
  }
};

/// An element of a column matrix.
template <class T>
struct FillElement {
  Window window;
  std::int64_t positions;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* columns) const {
    std::int64_t row = index / positions, step = index - row * positions, size = 1, offset = 0;
    bool inside = true;
    for (int axis = window.axes - 1; axis >= 0; --axis) {
      const std::int64_t at = step % window.steps[axis] * window.stride[axis] - window.pad[axis] +
                              row % window.kernel[axis] * window.dilation[axis];
      inside = inside && at >= 0 && at < window.image[axis];
      offset += at * size;
      size *= window.image[axis];
      step /= window.steps[axis];
      row /= window.kernel[axis];
    }
    columns[index] = inside ? x[row * size + offset] : T(0);
  }
};

/// An element of an image, which asks each row of the matrix for its copy.
template <class T>
struct ElementAsks {
  Window window;
  std::int64_t positions, pixels, kernels;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* columns, T* images) const {
    const std::int64_t channel = index / pixels, at = index - channel * pixels;
    T sum = 0;
    for (std::int64_t k = 0; k < kernels; ++k) {
      const std::int64_t position = PositionOf(at, k);
      if (position >= 0) sum += columns[(channel * kernels + k) * positions + position];
    }
    images[index] = sum;
  }

 private:
  /// The position from which the window's element k sees the image's element `at`; -1 if there is none.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t PositionOf(std::int64_t at, std::int64_t k) const {
    std::int64_t position = 0, size = 1;
    for (int axis = window.axes - 1; axis >= 0; --axis) {
      const std::int64_t distance =
          at % window.image[axis] + window.pad[axis] - k % window.kernel[axis] * window.dilation[axis];
      const std::int64_t step = distance / window.stride[axis];
      if (distance < 0 || step * window.stride[axis] != distance || step >= window.steps[axis]) return -1;
      position += step * size;
      size *= window.steps[axis];
      at /= window.image[axis];
      k /= window.kernel[axis];
    }
    return position;
  }
};

/// The same window with as many axes in front as it lacks of two.
Window WithTwoAxes(const Window& window) {
  if (window.axes >= 2) return window;
  Window two;
  two.axes = 2;
  const int added = 2 - window.axes;
  for (int axis = 0; axis < 2; ++axis) {
    const int of = axis - added;
    two.kernel[axis] = of < 0 ? 1 : window.kernel[of];
    two.stride[axis] = of < 0 ? 1 : window.stride[of];
    two.pad[axis] = of < 0 ? 0 : window.pad[of];
    two.dilation[axis] = of < 0 ? 1 : window.dilation[of];
    two.image[axis] = of < 0 ? 1 : window.image[of];
    two.steps[axis] = of < 0 ? 1 : window.steps[of];
  }
  return two;
}

/// Calls run(axes) with the number of axes as a type: two, for which loops are compiled; 0 for more.
template <class Run>
void WithAxes(const Window& window, const Run& run) {
  if (window.axes <= 2)
    run(std::integral_constant<int, 2>());
  else
    run(std::integral_constant<int, 0>());
}

}  // namespace

template <Real T>
void Im2col(const Series& series, const Window& window, Grain grain, std::int64_t channels, const T* images,
            T* columns) {
  const std::int64_t positions = window.StepCount(), rows = channels * window.KernelCount();
  if (positions == 0) return;
  if (grain == Grain::kElement)
    series.For(rows * positions, FillElement<T>{window, positions}, images, columns);
  else
    WithAxes(window, [&](auto axes) {
      series.For(rows, FillRow<T, axes()>{WithTwoAxes(window), positions}, images, columns);
    });
}

template <Real T>
void Col2im(const Series& series, const Window& window, Grain grain, std::int64_t channels, const T* columns,
            T* images) {
  const std::int64_t positions = window.StepCount(), pixels = window.ImageCount();
  const std::int64_t kernels = window.KernelCount();
  if (pixels == 0) return;
  if (grain == Grain::kElement)
    series.For(channels * pixels, ElementAsks<T>{window, positions, pixels, kernels}, columns, images);
  else
    WithAxes(window, [&](auto axes) {
      series.For(channels, RowsAdd<T, axes()>{WithTwoAxes(window), positions, pixels, kernels}, columns,
                 images);
    });
}

#define FERRY_INSTANTIATE(T)                                                             \
  template void Im2col(const Series&, const Window&, Grain, std::int64_t, const T*, T*); \
  template void Col2im(const Series&, const Window&, Grain, std::int64_t, const T*, T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
