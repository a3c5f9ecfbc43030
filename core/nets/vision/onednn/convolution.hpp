// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "core/nets/vision/convolution.hpp"

namespace ferry::detail {

/// A convolution that oneDNN computes wherever host code runs; elsewhere it is that of Gemm. Null unless
/// sizes.IsUsual(): the library has no others. Buffers are memory of the device.
std::unique_ptr<ConvolutionMaps<float>> MakeOneDnnConvolution(const ConvolutionSizes& sizes, Device& device);
/// Whether it is faster than column matrices: on this processor, or where the library's vectors have so many
/// floats.
bool OneDnnIsFaster(const ConvolutionSizes& sizes);
bool OneDnnIsFaster(const ConvolutionSizes& sizes, std::int64_t vector_length);

}  // namespace ferry::detail
