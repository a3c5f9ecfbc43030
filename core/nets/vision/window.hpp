// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "ferry/blob.hpp"
#include "ferry/layers.pb.h"
#include "ferry/shape.hpp"

namespace ferry::detail {

/// All axes but the one of channels.
inline constexpr int kMostSpatialAxes = kMaxBlobAxes - 1;

/// A window that slides over an image of so many spatial axes. A value; kernels copy it.
struct Window {
  using Dims = std::int64_t[kMostSpatialAxes];

  int axes = 0;
  Dims kernel{}, stride{}, pad{}, dilation{};  ///< what the layer's parameter says
  Dims image{};                                ///< the size of what the window slides over
  Dims steps{};                                ///< the number of its positions

  /// From the first to the last element, in elements of the image.
  std::int64_t Extent(int axis) const { return dilation[axis] * (kernel[axis] - 1) + 1; }
  std::int64_t KernelCount() const { return Product(kernel); }
  std::int64_t ImageCount() const { return Product(image); }
  std::int64_t StepCount() const { return Product(steps); }
  /// Whether each position is one element of the image, in order.
  bool IsIdentity() const;

  /// Sets the number of positions in an image of that size. Returns what cannot be; empty if all can.
  std::string SetImage(const std::int64_t* dims);
  /// Sets the size of the image in which there are so many positions. The same.
  std::string SetSteps(const std::int64_t* dims);

 private:
  std::int64_t Product(const Dims& dims) const {
    std::int64_t product = 1;
    for (int axis = 0; axis < axes; ++axis) product *= dims[axis];
    return product;
  }
};

/// Sets axes, kernel, stride, pad and dilation. Returns what cannot be; empty if all can.
std::string ReadWindow(const ConvolutionParameter& param, int axes, Window* window);

/// Says that there are no windows over the axes from `first` on; empty if there are.
std::string WithoutWindows(const Shape& bottom, const Shape& top, int first);
/// The same for a top that never had an element: Caffe finds no storage for it. One that had some before may
/// be empty, there and here.
template <class T>
std::string WithoutWindows(const Blob<T>& bottom, const Blob<T>& top, int first) {
  return top.data()->capacity() != 0 ? "" : WithoutWindows(bottom.shape(), top.shape(), first);
}

}  // namespace ferry::detail
