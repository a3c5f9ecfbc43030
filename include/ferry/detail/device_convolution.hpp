// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ferry/kernels.hpp"

/// Convolutions by a vendor's library. Its backend defines what is only declared here; in a build without
/// such a library without_device_convolution.cpp does, and has none.
namespace ferry::detail {

/// The three maps of a convolution: images to maps, maps to the gradient of images, and images and maps to
/// the gradient of weights, which is added.
enum class ConvolutionMap : std::uint8_t { kToMaps, kToImages, kToWeights };

/// A convolution of two spatial axes. Each array has elements, and no more than an int counts.
struct DeviceConvolutionSizes {
  struct Axis {
    int image, map, kernel, stride, pad, dilation;
  };
  int images, in_channels, out_channels, groups;
  Axis axes[2];
};

/// Pointers to the device's memory. A null bias is none.
template <Real T>
struct DeviceConvolutionArrays {
  T *images, *weights, *bias, *maps, *workspace;
};

/// One map, made ready for one GPU: with an algorithm that gives the same bits on every run. Any thread may
/// run it.
template <Real T>
class DeviceConvolution {
 public:
  virtual ~DeviceConvolution() = default;
  DeviceConvolution(const DeviceConvolution&) = delete;
  DeviceConvolution& operator=(const DeviceConvolution&) = delete;

  /// Elements that a run needs to itself.
  virtual std::int64_t workspace() const noexcept = 0;
  /// Queues work. The bias is added to the maps, or has their sums over images and pixels added; images have
  /// none. Throws DeviceError.
  virtual void Run(const Stream& on, const DeviceConvolutionArrays<T>& arrays) const = 0;

 protected:
  DeviceConvolution() = default;
};

/// Whether the library is for the GPUs of this device.
bool HasDeviceConvolution(const DeviceProperties& device) noexcept;
/// Null where the library has no such convolution. Throws DeviceError. For float and double.
template <Real T>
std::unique_ptr<DeviceConvolution<T>> MakeDeviceConvolution(const Stream& on, ConvolutionMap map,
                                                            const DeviceConvolutionSizes& sizes);

}  // namespace ferry::detail
