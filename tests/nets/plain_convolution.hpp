// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/nets/vision/convolution.hpp"

namespace ferry::nets_test {

/// Calls use(image element, weight, map element) for each product of a convolution of two spatial axes.
template <class Use>
void ForEachProduct(const detail::ConvolutionSizes& sizes, const Use& use) {
  const detail::Window& w = sizes.window;
  const std::int64_t ins = sizes.in_channels / sizes.groups, outs = sizes.out_channels / sizes.groups;
  for (std::int64_t n = 0; n < sizes.images; ++n)
    for (std::int64_t o = 0; o < sizes.out_channels; ++o)
      for (std::int64_t c = 0; c < ins; ++c)
        for (std::int64_t i = 0; i < w.steps[0]; ++i)
          for (std::int64_t j = 0; j < w.steps[1]; ++j)
            for (std::int64_t k = 0; k < w.kernel[0]; ++k)
              for (std::int64_t l = 0; l < w.kernel[1]; ++l) {
                const std::int64_t h = i * w.stride[0] - w.pad[0] + k * w.dilation[0];
                const std::int64_t v = j * w.stride[1] - w.pad[1] + l * w.dilation[1];
                if (h < 0 || h >= w.image[0] || v < 0 || v >= w.image[1]) continue;
                const std::int64_t channel = o / outs * ins + c;
                use(static_cast<std::size_t>(
                        ((n * sizes.in_channels + channel) * w.image[0] + h) * w.image[1] + v),
                    static_cast<std::size_t>(((o * ins + c) * w.kernel[0] + k) * w.kernel[1] + l),
                    static_cast<std::size_t>(((n * sizes.out_channels + o) * w.steps[0] + i) * w.steps[1] +
                                             j));
              }
}

}  // namespace ferry::nets_test
