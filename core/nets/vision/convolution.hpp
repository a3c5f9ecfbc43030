// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "core/nets/vision/window.hpp"
#include "ferry/blob.hpp"

namespace ferry::detail {

/// What a convolution maps: images of in_channels to maps of out_channels with an element for each position
/// of the window.
struct ConvolutionSizes {
  Window window;
  std::int64_t images = 0, in_channels = 0, out_channels = 0, groups = 1;

  /// Elements of one image, and of one map.
  std::int64_t ImageCount() const { return in_channels * window.ImageCount(); }
  std::int64_t MapCount() const { return out_channels * window.StepCount(); }
  /// Rows of a column matrix in one group.
  std::int64_t KernelCount() const { return in_channels / groups * window.KernelCount(); }
  /// Whether libraries know its like: two spatial axes, elements, and a window no larger than the image.
  bool IsUsual() const;
};

/// The three maps of a convolution. Arrays are the data or diffs of blobs, with as many elements as the sizes
/// say; what is written must not be read. Each call queues work at `at`.
template <Real T>
class ConvolutionMaps {
 public:
  virtual ~ConvolutionMaps() = default;
  ConvolutionMaps(const ConvolutionMaps&) = delete;
  ConvolutionMaps& operator=(const ConvolutionMaps&) = delete;

  /// maps = weights * images, plus the bias of each channel unless null.
  virtual void ToMaps(const At& at, const Part& images, const Part& weights, const Part* bias,
                      const Part& maps) = 0;
  /// images = weights^T * maps: the gradient of the images.
  virtual void ToImages(const At& at, const Part& maps, const Part& weights, const Part& images) = 0;
  /// weights += the gradient of the weights; the same for a bias unless null.
  virtual void AddToWeights(const At& at, const Part& images, const Part& maps, const Part& weights,
                            const Part* bias) = 0;

 protected:
  ConvolutionMaps() = default;
};

/// By column matrices and Gemm: for all sizes, at all places. Buffers, for the column matrix and the maps of
/// one image and for weights in another order, are memory of the device.
template <Real T>
std::unique_ptr<ConvolutionMaps<T>> MakeGemmConvolution(const ConvolutionSizes& sizes, Device& device);
/// The fastest that this build has.
template <Real T>
std::unique_ptr<ConvolutionMaps<T>> MakeConvolution(const ConvolutionSizes& sizes, Device& device);

/// y[n, c, p] += bias[c]
template <Real T>
void AddBias(const At& at, std::int64_t images, std::int64_t channels, const Operand<const T>& bias,
             const Operand<T>& y);
/// bias[c] += the sum over n and p of y[n, c, p]. Keeps the sums of each image in `sums`.
template <Real T>
void AddSumsToBias(const At& at, std::int64_t images, std::int64_t channels, const Operand<const T>& y,
                   Blob<T>& sums, const Operand<T>& bias);

}  // namespace ferry::detail
