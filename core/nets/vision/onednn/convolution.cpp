// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/onednn/convolution.hpp"

#include <array>

#include "core/nets/vision/chunk.hpp"
#include "core/nets/vision/onednn/step.hpp"
#include "core/nets/vision/scratch.hpp"
#include "ferry/detail/kernel_place.hpp"

namespace ferry::detail {
namespace {

using onednn::Kind;
using onednn::Layout;

/// From as many elements of a channel on, the library multiplies as fast in the order of blobs.
constexpr std::int64_t kLongRow = 64;

class OneDnnConvolution final : public ConvolutionMaps<float> {
 public:
  OneDnnConvolution(const ConvolutionSizes& sizes, Device& device)
      : sizes_(sizes), otherwise_(MakeGemmConvolution<float>(sizes, device)), scratch_(device) {}

  void ToMaps(const At& at, const Part& images, const Part& weights, const Part* bias,
              const Part& maps) override {
    if (!OnHost(at)) return otherwise_->ToMaps(at, images, weights, bias, maps);
    Run(at, Kind::kToMaps, {images, Access::kRead}, {weights, Access::kRead}, bias, Access::kRead,
        {maps, Access::kOverwrite});
  }
  void ToImages(const At& at, const Part& maps, const Part& weights, const Part& images) override {
    if (!OnHost(at) || CollidesInCache()) return otherwise_->ToImages(at, maps, weights, images);
    Run(at, Kind::kToImages, {images, Access::kOverwrite}, {weights, Access::kRead}, nullptr, Access::kRead,
        {maps, Access::kRead});
  }
  void AddToWeights(const At& at, const Part& images, const Part& maps, const Part& weights,
                    const Part* bias) override {
    // The sum over pixels of one long product: BLAS is faster by a tenth to a third, and for images of one
    // channel by five times, where vectors have 8 floats.
    if (!OnHost(at) || sizes_.window.IsIdentity() || (sizes_.in_channels == 1 && onednn::VectorLength() == 8))
      return otherwise_->AddToWeights(at, images, maps, weights, bias);
    Run(at, Kind::kToWeights, {images, Access::kRead}, {weights, Access::kReadWrite}, bias,
        Access::kReadWrite, {maps, Access::kRead});
  }

 private:
  /// Whether the library reads the weights of an element for vectors of 8 floats in steps of 16 KiB, which
  /// take the same lines of a cache: BLAS, which copies them, is faster.
  bool CollidesInCache() const {
    return sizes_.window.IsIdentity() && sizes_.in_channels / sizes_.groups % 512 == 0 &&
           onednn::VectorLength() == 8;
  }
  static bool OnHost(const At& at) { return !OnGpuThreads(*KernelPlace(at.place())); }

  /// Without a copy, where one is no faster; and the library's own order is none where there are few
  /// channels of images to write.
  Layout LayoutFor(Kind kind) const {
    const bool few = kind == Kind::kToImages && sizes_.in_channels / sizes_.groups < 16 &&
                     sizes_.in_channels != sizes_.groups;
    const bool plain_product = sizes_.window.IsIdentity() && sizes_.window.StepCount() >= kLongRow;
    return few || plain_product ? Layout::kPlain : Layout::kItsOwn;
  }
  const std::shared_ptr<const onednn::Step>& StepFor(Kind kind, bool bias) {
    Made& made = made_[static_cast<std::size_t>(kind)];
    if (made.step == nullptr || made.bias != bias)
      made = {onednn::MakeStep(sizes_, kind, LayoutFor(kind), bias), bias};
    return made.step;
  }

  void Run(const At& at, Kind kind, const Operand<float>& images, const Operand<float>& weights,
           const Part* bias, Access bias_access, const Operand<float>& maps) {
    const std::shared_ptr<const onednn::Step> step = StepFor(kind, bias != nullptr);
    const Part none{nullptr, {0, 0}, 0, {}};
    const Operand<float> biases(bias != nullptr ? *bias : none, bias_access);
    const Operand<float> scratch(scratch_.Take(step->scratch()), Access::kOverwrite);
    const Taken<Operand<float>, Operand<float>, Operand<float>, Operand<float>, Operand<float>> taken(
        at, images, weights, biases, maps, scratch);
    const onednn::Arrays arrays{taken.get<0>(), taken.get<1>(), taken.get<2>(), taken.get<3>(),
                                taken.get<4>()};
    RunHostCode(
        taken.place(), [&] { return taken.Touches(); }, [step, arrays] { step->Run(arrays); });
  }

  struct Made {
    std::shared_ptr<const onednn::Step> step;
    bool bias = false;
  };

  const ConvolutionSizes sizes_;
  std::unique_ptr<ConvolutionMaps<float>> otherwise_;
  Scratch<float> scratch_;
  std::array<Made, 3> made_;
};

/// How much the library computes for what is needed: it fills channels up to whole vectors, except the one or
/// three of a net's images.
double Padding(const ConvolutionSizes& sizes, std::int64_t vector) {
  const auto padded = [vector](std::int64_t channels) { return (channels + vector - 1) / vector * vector; };
  const std::int64_t in = sizes.in_channels / sizes.groups, out = sizes.out_channels / sizes.groups;
  const std::int64_t taken_in = in == 1 || in == 3 ? in : padded(in);
  return static_cast<double>(taken_in * padded(out)) / static_cast<double>(in * out);
}

}  // namespace

bool OneDnnIsFaster(const ConvolutionSizes& sizes) { return OneDnnIsFaster(sizes, onednn::VectorLength()); }
bool OneDnnIsFaster(const ConvolutionSizes& sizes, std::int64_t vector_length) {
  if (sizes.window.KernelCount() == 1 && !sizes.window.IsIdentity()) return false;
  if (sizes.window.IsIdentity()) {
    // Each row of a column matrix is a channel. BLAS is slower where that is long; and with vectors of 16,
    // where it is short, if there is enough to copy weights for.
    const std::int64_t row = sizes.window.StepCount(), groups = sizes.groups;
    constexpr std::int64_t kEnough = 32;
    const bool whole =
        sizes.in_channels / groups % vector_length == 0 && sizes.out_channels / groups % vector_length == 0;
    return row >= kLongRow || (vector_length == 16 && whole && row * sizes.images >= kEnough);
  }
  // Without AVX-512 the library wins less, so that BLAS is faster with less to fill up: decision 0050.
  return sizes.groups > 1 || Padding(sizes, vector_length) <= (vector_length == 16 ? 1.5 : 1.1);
}

std::unique_ptr<ConvolutionMaps<float>> MakeOneDnnConvolution(const ConvolutionSizes& sizes, Device& device) {
  return sizes.IsUsual() ? std::make_unique<OneDnnConvolution>(sizes, device) : nullptr;
}

}  // namespace ferry::detail
