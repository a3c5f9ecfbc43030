// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/im2col.hpp"

#include "core/nets/vision/chunk.hpp"

namespace ferry::detail {
namespace {

/// The number of j from 0 on with j * stride + shift < bound, at most `most`.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t CountBelow(std::int64_t bound, std::int64_t shift,
                                                    std::int64_t stride, std::int64_t most) {
  const std::int64_t distance = bound - shift;
  if (distance <= 0) return 0;
  const std::int64_t count = (distance + stride - 1) / stride;
  return count < most ? count : most;
}

/// Part of a row of a column matrix: the positions along the last axis.
template <class T>
struct Im2colLine {
  Window window;
  Chunks chunks;
  std::int64_t lines;  ///< in one row of the matrix

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* x, T* columns) const {
    const auto [line, first, last] = chunks[index];
    const int inner = window.axes - 1;
    std::int64_t row = line / lines, step = line - row * lines;
    const std::int64_t stride = window.stride[inner], width = window.image[inner];
    const std::int64_t shift = row % window.kernel[inner] * window.dilation[inner] - window.pad[inner];
    row /= window.kernel[inner];
    std::int64_t size = width, offset = 0;
    bool inside = true;
    for (int axis = inner - 1; axis >= 0; --axis) {
      const std::int64_t at = step % window.steps[axis] * window.stride[axis] - window.pad[axis] +
                              row % window.kernel[axis] * window.dilation[axis];
      inside = inside && at >= 0 && at < window.image[axis];
      offset += at * size;
      size *= window.image[axis];
      step /= window.steps[axis];
      row /= window.kernel[axis];
    }
    T* const y = columns + line * chunks.line;
    std::int64_t begin = inside ? CountBelow(0, shift, stride, last) : last;
    begin = begin < first ? first : begin;
    std::int64_t end = CountBelow(width, shift, stride, last);
    end = end < begin ? begin : end;
    const T* const from = x + (row * size + offset + shift);
    for (std::int64_t j = first; j < begin; ++j) y[j] = 0;
    if (stride == 1)
      for (std::int64_t j = begin; j < end; ++j) y[j] = from[j];
    else
      for (std::int64_t j = begin; j < end; ++j) y[j] = from[j * stride];
    for (std::int64_t j = end; j < last; ++j) y[j] = 0;
  }
};

/// Part of a line of an image along the last axis, which gathers what belongs to it.
template <class T>
struct Col2imLine {
  Window window;
  Chunks chunks;
  std::int64_t lines;    ///< in one image
  std::int64_t kernels;  ///< elements of the window

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t index, const T* columns, T* images) const {
    const auto [line, first, last] = chunks[index];
    const int inner = window.axes - 1;
    const std::int64_t steps = window.steps[inner], stride = window.stride[inner];
    const std::int64_t channel = line / lines, at = line - channel * lines;
    T* const y = images + line * chunks.line;
    for (std::int64_t j = first; j < last; ++j) y[j] = 0;
    for (std::int64_t k = 0; k < kernels; ++k) {
      const std::int64_t from = StepsBefore(at, k / window.kernel[inner]);
      if (from < 0) continue;
      const std::int64_t shift = k % window.kernel[inner] * window.dilation[inner] - window.pad[inner];
      const std::int64_t begin = CountBelow(first, shift, stride, steps);
      const std::int64_t end = CountBelow(last, shift, stride, steps);
      const T* const x = columns + ((channel * kernels + k) * StepsOuter() + from) * steps;
      if (stride == 1)
        for (std::int64_t j = begin; j < end; ++j) y[j + shift] += x[j];
      else
        for (std::int64_t j = begin; j < end; ++j) y[j * stride + shift] += x[j];
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t StepsOuter() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < window.axes - 1; ++axis) product *= window.steps[axis];
    return product;
  }
  /// The position, by all axes but the last, from which the window's element k sees the line `at`; -1 if
  /// there is none.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t StepsBefore(std::int64_t at, std::int64_t k) const {
    std::int64_t position = 0, size = 1;
    for (int axis = window.axes - 2; axis >= 0; --axis) {
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

}  // namespace

template <Real T>
void Im2col(const At& at, const Window& window, std::int64_t channels, const Operand<const T>& images,
            const Operand<T>& columns) {
  const std::int64_t width = window.steps[window.axes - 1], positions = window.StepCount();
  if (positions == 0) return;
  const Chunks chunks(at.place(), width, width);
  const std::int64_t lines = positions / width;
  ParallelFor(at, channels * window.KernelCount() * lines * chunks.per_line, images, columns,
              Im2colLine<T>{window, chunks, lines});
}

template <Real T>
void Col2im(const At& at, const Window& window, std::int64_t channels, const Operand<const T>& columns,
            const Operand<T>& images) {
  const std::int64_t width = window.image[window.axes - 1], pixels = window.ImageCount();
  if (pixels == 0) return;
  const Chunks chunks(at.place(), width, width);
  const std::int64_t lines = pixels / width;
  ParallelFor(at, channels * lines * chunks.per_line, columns, images,
              Col2imLine<T>{window, chunks, lines, window.KernelCount()});
}

#define FERRY_INSTANTIATE(T)                                                                                \
  template void Im2col(const At&, const Window&, std::int64_t, const Operand<const T>&, const Operand<T>&); \
  template void Col2im(const At&, const Window&, std::int64_t, const Operand<const T>&, const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
