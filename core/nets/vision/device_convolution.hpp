// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "core/nets/vision/convolution.hpp"

namespace ferry::detail {

/// A convolution that the vendor's library computes on its GPUs; elsewhere, and where the library has none,
/// it is `otherwise`. What the library needs of memory is the device's.
template <Real T>
std::unique_ptr<ConvolutionMaps<T>> OnDevice(const ConvolutionSizes& sizes, Device& device,
                                             std::unique_ptr<ConvolutionMaps<T>> otherwise);

}  // namespace ferry::detail
