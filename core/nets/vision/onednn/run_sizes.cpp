// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/onednn/run_sizes.hpp"

#include <algorithm>

namespace ferry::detail::onednn {
namespace {

/// The largest divisor of `count` that is at most `most`, or 1.
std::int64_t PartOf(std::int64_t count, std::int64_t most) {
  std::int64_t part = std::clamp<std::int64_t>(most, 1, count);
  while (count % part != 0) --part;
  return part;
}

}  // namespace

RunSizes SizesOfRuns(const ConvolutionSizes& all, Kind kind, Layout layout) {
  RunSizes part{all};
  if (layout == Layout::kPlain) return part;
  constexpr std::int64_t kCached = 1 << 19, kCachedWeights = kCached / 2;  // floats
  const std::int64_t weights = all.out_channels * all.KernelCount();
  // Gradients of weights are added up in plain order once for each run, so that runs are larger than those.
  const std::int64_t images = kind == Kind::kToWeights ? std::max(kCached, 4 * weights) : kCached;
  part.sizes.images = PartOf(all.images, images / (all.ImageCount() + all.MapCount()));
  part.runs = all.images / part.sizes.images;
  // With fewer, registers of the library's kernels are left without work.
  constexpr std::int64_t kFewest = 64;
  std::int64_t& channels = kind == Kind::kToImages ? part.sizes.in_channels : part.sizes.out_channels;
  if (part.runs > 1 || all.groups > 1 || channels % kFewest != 0) return part;
  const std::int64_t most = kCachedWeights / (weights / channels);
  part.runs = channels / kFewest / PartOf(channels / kFewest, most / kFewest);
  channels /= part.runs;
  return part;
}

}  // namespace ferry::detail::onednn
