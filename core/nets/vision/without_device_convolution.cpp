// SPDX-License-Identifier: BSD-2-Clause
// What stands for a vendor's library in a build without one.
#include "ferry/detail/device_convolution.hpp"

namespace ferry::detail {

bool HasDeviceConvolution(const DeviceProperties&) noexcept { return false; }

template <Real T>
std::unique_ptr<DeviceConvolution<T>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                            const DeviceConvolutionSizes&) {
  return nullptr;
}

template std::unique_ptr<DeviceConvolution<float>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                         const DeviceConvolutionSizes&);
template std::unique_ptr<DeviceConvolution<double>> MakeDeviceConvolution(const Stream&, ConvolutionMap,
                                                                          const DeviceConvolutionSizes&);

}  // namespace ferry::detail
