// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <dnnl.hpp>

#include "core/nets/vision/convolution.hpp"
#include "ferry/detail/device_convolution.hpp"

namespace ferry::detail::onednn {

using Kind = ConvolutionMap;

/// In what order the library has images and maps: its own, which is faster for windows of several elements
/// also with the copies; or that of blobs.
enum class Layout : std::uint8_t { kItsOwn, kPlain };

/// Pointers to elements of blobs; null for a bias that is not there.
struct Arrays {
  float *images, *weights, *bias, *maps, *scratch;
};

/// One map, made ready: primitives for a few images at once, so that copies in the library's order stay in
/// the cache, and the scratch that they need. Any thread may run it, each with a scratch of its own.
class Step {
 public:
  Step(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias);

  /// In floats.
  std::int64_t scratch() const noexcept { return scratch_; }
  /// Reads two of images, weights and maps, and overwrites the third, or adds to weights and bias.
  void Run(const Arrays& arrays) const;

 private:
  /// One of the arrays: as blobs have it, as the primitive has it, and the way between them.
  struct Argument {
    dnnl::memory::desc plain, own;
    bool copied = false;
    std::int64_t offset = 0;  ///< of the copy in the scratch
    dnnl::reorder reorder;
  };
  enum class Way : std::uint8_t { kIn, kOut, kAddedOut };

  static dnnl::memory::desc MapsDesc(const ConvolutionSizes& sizes, dnnl::memory::format_tag tag,
                                     std::int64_t images);
  void Set(Argument& argument, const dnnl::memory::desc& plain, const dnnl::memory::desc& own, Way way);
  std::int64_t Reserve(std::size_t bytes);
  static dnnl::memory Own(const Argument& argument, float* user, float* scratch);
  static void Copy(const dnnl::stream& stream, const Argument& argument, Way way, float* user,
                   float* scratch);

  Kind kind_;
  std::int64_t images_ = 0, at_once_ = 1, image_count_ = 0, map_count_ = 0, bias_count_ = 0;
  std::int64_t scratch_ = 0, bias_offset_ = 0, pad_offset_ = 0;
  Argument image_, weight_, map_;
  dnnl::memory::desc bias_, pad_;
  dnnl::primitive primitive_;
};

/// The processor.
const dnnl::engine& Engine();

}  // namespace ferry::detail::onednn
