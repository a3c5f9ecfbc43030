// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "core/nets/vision/convolution.hpp"

namespace ferry::detail {

/// A convolution that oneDNN computes wherever host code runs; elsewhere it is that of Gemm. Null unless
/// sizes.IsUsual(): the library has no others. Buffers are memory of the device.
std::unique_ptr<ConvolutionMaps<float>> MakeOneDnnConvolution(const ConvolutionSizes& sizes, Device& device);
/// Whether it is then faster than column matrices.
bool OneDnnIsFaster(const ConvolutionSizes& sizes);

}  // namespace ferry::detail
