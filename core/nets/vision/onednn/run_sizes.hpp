// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "core/nets/vision/onednn/step.hpp"

namespace ferry::detail::onednn {

/// What a primitive computes in one of several runs, so that copies in the library's order stay in the cache:
/// some of the images; or where weights are large, some of the channels that only images or only maps have.
struct RunSizes {
  ConvolutionSizes sizes;
  std::int64_t runs = 1;
};
RunSizes SizesOfRuns(const ConvolutionSizes& all, Kind kind, Layout layout);

}  // namespace ferry::detail::onednn
