// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/nets/philox.hpp"
#include "core/nets/vision/chunk.hpp"
#include "ferry/kernels.hpp"
#include "ferry/layers.pb.h"

namespace ferry::detail {

/// One axis of windows that are pooled.
struct PoolAxis {
  std::int64_t size = 0;  ///< of the image
  std::int64_t kernel = 0, stride = 1, pad = 0;
  std::int64_t pooled = 0;  ///< the number of windows

  /// What a window covers: `first` to `last` of the image, and `padded_size` with the padding.
  struct Span {
    std::int64_t first, last, padded_size;
  };
  KOKKOS_FORCEINLINE_FUNCTION Span WindowAt(std::int64_t window) const {
    const std::int64_t begin = window * stride - pad;
    const std::int64_t end = begin + kernel < size + pad ? begin + kernel : size + pad;
    return {begin > 0 ? begin : 0, end < size ? end : size, end - begin};
  }
  /// Windows `first` up to, not including, `last`.
  struct Windows {
    std::int64_t first, last;
  };
  /// Those that lie on the image as a whole.
  Windows WholeWindows() const {
    const std::int64_t room = size + pad - kernel;
    return {std::min((pad + stride - 1) / stride, pooled), room < 0 ? 0 : room / stride + 1};
  }
  /// The windows that cover an element: `first` up to, not including, `last`.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t FirstWindow(std::int64_t element) const {
    const std::int64_t distance = element + pad - kernel;
    return distance < 0 ? 0 : distance / stride + 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t LastWindow(std::int64_t element) const {
    const std::int64_t last = (element + pad) / stride + 1;
    return last < pooled ? last : pooled;
  }

  /// Sets the number of windows. Returns what cannot be; empty if all can.
  std::string SetSize(std::int64_t of, PoolingParameter::RoundMode round, bool any_pad);
};

/// Images of h x w elements, one for each channel of each, and the windows over them. A value; kernels copy
/// it.
struct PoolSizes {
  std::int64_t planes = 0;
  PoolAxis h, w;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t Plane() const { return h.size * w.size; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t PooledPlane() const { return h.pooled * w.pooled; }
};

/// Sets kernels, strides and pads, for global pooling those of the image's sizes. Returns what cannot be.
std::string ReadPooling(const PoolingParameter& param, std::int64_t height, std::int64_t width,
                        PoolSizes* sizes);

/// @name Maps of images x to pooled y, and of gradients dy to dx
/// Which element of its plane a window has chosen stands in `mask`, in row-major order; for a window without
/// any, -1 converted to Index, which is 65535 for uint16_t. Index is uint16_t, for planes of at most
/// kShortPlane elements; int; or T, as Caffe's second top has it.
///@{
inline constexpr std::int64_t kShortPlane = 65535;
template <Real T, class Index>
void MaxPool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y,
             const Operand<Index>& mask);
template <Real T>
void AveragePool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y);
/// Chooses an element with a probability that is proportional to it.
template <Real T, class Index>
void SamplePool(const At& at, const PoolSizes& sizes, const Philox& random, const Operand<const T>& x,
                const Operand<T>& y, const Operand<Index>& mask);
/// What SamplePool gives on average.
template <Real T>
void ExpectedPool(const At& at, const PoolSizes& sizes, const Operand<const T>& x, const Operand<T>& y);

template <Real T>
void AveragePoolGradient(const At& at, const PoolSizes& sizes, const Operand<const T>& dy,
                         const Operand<T>& dx);

/// The gradient goes back to the chosen elements: windows add to them, or each element asks the windows that
/// cover it.
template <Real T, class Index>
void MaskedPoolGradient(const At& at, const PoolSizes& sizes, Grain grain, const Operand<const T>& dy,
                        const Operand<const Index>& mask, const Operand<T>& dx);
///@}

}  // namespace ferry::detail
