// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "core/nets/vision/convolution.hpp"
#include "ferry/detail/device_convolution.hpp"

/// What oneDNN computes, for sources that need not know its headers.
namespace ferry::detail::onednn {

using Kind = ConvolutionMap;

/// In what order the library has images and maps: its own, which is faster for windows of several elements
/// also with the copies; or that of blobs.
enum class Layout : std::uint8_t { kItsOwn, kPlain };

/// Pointers to elements of blobs; null for a bias that is not there.
struct Arrays {
  float *images, *weights, *bias, *maps, *scratch;
};

/// One map, made ready. Any thread may run it, each with a scratch of its own.
class Step {
 public:
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// In floats.
  virtual std::int64_t scratch() const noexcept = 0;
  /// Reads two of images, weights and maps, and overwrites the third, or adds to weights and bias.
  virtual void Run(const Arrays& arrays) const = 0;

 protected:
  Step() = default;
};

std::unique_ptr<const Step> MakeStep(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias);

/// How many floats there are in the library's vectors on this processor: 16 with AVX-512, else 8.
std::int64_t VectorLength();

}  // namespace ferry::detail::onednn
