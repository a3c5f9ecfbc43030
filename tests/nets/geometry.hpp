// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "core/nets/vision/convolution.hpp"

namespace ferry::nets_test {

/// Of a convolution.
struct Geometry {
  std::int64_t images, in, out, groups;
  std::int64_t kernel[2], image[2];
  std::int64_t pad = 0, stride = 1, dilation = 1;
};

inline detail::ConvolutionSizes SizesOf(const Geometry& geometry) {
  detail::ConvolutionSizes sizes;
  sizes.images = geometry.images, sizes.in_channels = geometry.in, sizes.out_channels = geometry.out;
  sizes.groups = geometry.groups;
  sizes.window.axes = 2;
  for (int axis = 0; axis < 2; ++axis) {
    sizes.window.kernel[axis] = geometry.kernel[axis];
    sizes.window.stride[axis] = geometry.stride;
    sizes.window.dilation[axis] = geometry.dilation;
    sizes.window.pad[axis] = geometry.pad;
  }
  REQUIRE(sizes.window.SetImage(geometry.image).empty());
  return sizes;
}

}  // namespace ferry::nets_test
