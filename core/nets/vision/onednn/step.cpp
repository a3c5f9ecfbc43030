// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/onednn/step.hpp"

#include <algorithm>
#include <dnnl.hpp>
#include <unordered_map>

namespace ferry::detail::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr std::int64_t kAlignment = 16;  ///< in floats, a cache line

memory::desc Desc(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

memory::dims ImageDims(const ConvolutionSizes& sizes, std::int64_t images) {
  return {images, sizes.in_channels, sizes.window.image[0], sizes.window.image[1]};
}
memory::dims MapDims(const ConvolutionSizes& sizes, std::int64_t images) {
  return {images, sizes.out_channels, sizes.window.steps[0], sizes.window.steps[1]};
}
memory::desc WeightsDesc(const ConvolutionSizes& sizes, bool any) {
  const std::int64_t groups = sizes.groups;
  memory::dims dims{sizes.out_channels / groups, sizes.in_channels / groups, sizes.window.kernel[0],
                    sizes.window.kernel[1]};
  if (groups > 1) dims.insert(dims.begin(), groups);
  return Desc(dims, any ? Tag::any : groups > 1 ? Tag::goihw : Tag::oihw);
}

/// The most images that fit so many floats, and that divide all of them.
std::int64_t AtOnce(std::int64_t images, std::int64_t each, std::int64_t floats) {
  std::int64_t most = std::clamp<std::int64_t>(floats / std::max<std::int64_t>(each, 1), 1, images);
  while (images % most != 0) --most;
  return most;
}

dnnl::primitive_attr OwnScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// The processor.
const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Primitives for a few images at once, so that copies in the library's order stay in the cache, and the
/// scratch that they need.
class Primitives final : public Step {
 public:
  Primitives(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias);

  std::int64_t scratch() const noexcept override { return scratch_; }
  void Run(const Arrays& arrays) const override;

 private:
  /// One of the arrays: as blobs have it, as the primitive has it, and the way between them.
  struct Argument {
    dnnl::memory::desc plain, own;
    bool copied = false;
    std::int64_t offset = 0;  ///< of the copy in the scratch
    dnnl::reorder reorder;
  };
  enum class Way : std::uint8_t { kIn, kOut, kAddedOut };

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

Primitives::Primitives(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias)
    : kind_(kind),
      images_(sizes.images),
      image_count_(sizes.ImageCount()),
      map_count_(sizes.MapCount()),
      bias_count_(bias ? sizes.out_channels : 0) {
  // Gradients of weights are added up in plain order once for each part, so that parts are larger than those.
  constexpr std::int64_t kCached = 1 << 19;
  const std::int64_t weight_count = sizes.out_channels * sizes.KernelCount();
  at_once_ = layout == Layout::kPlain
                 ? images_
                 : AtOnce(images_, image_count_ + map_count_,
                          kind == Kind::kToWeights ? std::max(kCached, 4 * weight_count) : kCached);
  const Tag tag = layout == Layout::kPlain ? Tag::nchw : Tag::any;
  const memory::desc images = Desc(ImageDims(sizes, at_once_), tag),
                     maps = Desc(MapDims(sizes, at_once_), tag);
  const memory::desc weights = WeightsDesc(sizes, true);
  bias_ = bias ? Desc({sizes.out_channels}, Tag::x) : memory::desc();
  const Window& window = sizes.window;
  const memory::dims stride{window.stride[0], window.stride[1]}, pad{window.pad[0], window.pad[1]};
  const memory::dims dilation{window.dilation[0] - 1, window.dilation[1] - 1};
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::primitive_attr attributes = OwnScratchpad();
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, images, weights, bias_, maps, stride, dilation, pad,
       pad},
      attributes, Engine());
  memory::desc own_images, own_weights, own_maps;
  if (kind == Kind::kToMaps) {
    own_images = forward.src_desc(), own_weights = forward.weights_desc(), own_maps = forward.dst_desc();
    pad_ = forward.scratchpad_desc();
    primitive_ = dnnl::convolution_forward(forward);
  } else if (kind == Kind::kToImages) {
    const dnnl::convolution_backward_data::primitive_desc backward(
        {algorithm, images, weights, maps, stride, dilation, pad, pad}, attributes, Engine(), forward);
    own_images = backward.diff_src_desc(), own_weights = backward.weights_desc();
    own_maps = backward.diff_dst_desc();
    pad_ = backward.scratchpad_desc();
    primitive_ = dnnl::convolution_backward_data(backward);
  } else {
    const dnnl::convolution_backward_weights::primitive_desc backward(
        {algorithm, images, weights, bias_, maps, stride, dilation, pad, pad}, attributes, Engine(), forward);
    own_images = backward.src_desc(), own_weights = backward.diff_weights_desc();
    own_maps = backward.diff_dst_desc();
    pad_ = backward.scratchpad_desc();
    primitive_ = dnnl::convolution_backward_weights(backward);
  }
  Set(image_, Desc(ImageDims(sizes, at_once_), Tag::nchw), own_images,
      kind == Kind::kToImages ? Way::kOut : Way::kIn);
  Set(weight_, WeightsDesc(sizes, false), own_weights, kind == Kind::kToWeights ? Way::kAddedOut : Way::kIn);
  Set(map_, Desc(MapDims(sizes, at_once_), Tag::nchw), own_maps,
      kind == Kind::kToMaps ? Way::kOut : Way::kIn);
  if (bias && kind == Kind::kToWeights) bias_offset_ = Reserve(bias_.get_size());
  pad_offset_ = Reserve(pad_.get_size());
  scratch_ += kAlignment;
}

std::int64_t Primitives::Reserve(std::size_t bytes) {
  const std::int64_t at = scratch_;
  const auto floats = static_cast<std::int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
  scratch_ += (floats + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

void Primitives::Set(Argument& argument, const memory::desc& plain, const memory::desc& own, Way way) {
  argument.plain = plain;
  argument.own = own;
  argument.copied = way == Way::kAddedOut || plain != own;
  if (!argument.copied) return;
  argument.offset = Reserve(own.get_size());
  dnnl::primitive_attr attributes;
  if (way == Way::kAddedOut) {
    dnnl::post_ops sum;
    sum.append_sum(1.0F);
    attributes.set_post_ops(sum);
  }
  const memory::desc &from = way == Way::kIn ? plain : own, &to = way == Way::kIn ? own : plain;
  argument.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), from, Engine(), to, attributes));
}

memory Primitives::Own(const Argument& argument, float* user, float* scratch) {
  return {argument.own, Engine(), argument.copied ? scratch + argument.offset : user};
}

void Primitives::Copy(const dnnl::stream& stream, const Argument& argument, Way way, float* user,
                      float* scratch) {
  if (!argument.copied) return;
  memory plain(argument.plain, Engine(), user), own(argument.own, Engine(), scratch + argument.offset);
  dnnl::stream on = stream;  // NOLINT: execute takes one that may change
  if (way == Way::kIn)
    argument.reorder.execute(on, plain, own);
  else
    argument.reorder.execute(on, own, plain);
}

void Primitives::Run(const Arrays& arrays) const {
  const auto address = reinterpret_cast<std::uintptr_t>(arrays.scratch);
  constexpr std::uintptr_t kBytes = kAlignment * sizeof(float);
  float* const scratch = arrays.scratch + (kBytes - address % kBytes) % kBytes / sizeof(float);
  dnnl::stream stream(Engine());
  const bool to_maps = kind_ == Kind::kToMaps, to_images = kind_ == Kind::kToImages;
  const bool to_weights = kind_ == Kind::kToWeights;
  if (!to_weights) Copy(stream, weight_, Way::kIn, arrays.weights, scratch);
  const memory weights = Own(weight_, arrays.weights, scratch), pad(pad_, Engine(), scratch + pad_offset_);
  float* const sums = scratch + bias_offset_;
  memory bias;
  if (bias_count_ != 0) bias = memory(bias_, Engine(), to_weights ? sums : arrays.bias);
  for (std::int64_t n = 0; n < images_; n += at_once_) {
    float *const x = arrays.images + n * image_count_, *const y = arrays.maps + n * map_count_;
    const memory image = Own(image_, x, scratch), map = Own(map_, y, scratch);
    if (!to_images) Copy(stream, image_, Way::kIn, x, scratch);
    if (!to_maps) Copy(stream, map_, Way::kIn, y, scratch);
    std::unordered_map<int, memory> arguments{
        {to_images ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, image},
        {to_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, weights},
        {to_maps ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, map},
        {DNNL_ARG_SCRATCHPAD, pad}};
    if (bias_count_ != 0) arguments[to_weights ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS] = bias;
    primitive_.execute(stream, arguments);
    if (to_images) Copy(stream, image_, Way::kOut, x, scratch);
    if (to_maps) Copy(stream, map_, Way::kOut, y, scratch);
    if (to_weights) Copy(stream, weight_, Way::kAddedOut, arrays.weights, scratch);
    stream.wait();
    if (to_weights)
      for (std::int64_t c = 0; c < bias_count_; ++c) arrays.bias[c] += sums[c];
  }
}

}  // namespace

std::unique_ptr<const Step> MakeStep(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias) {
  return std::make_unique<const Primitives>(sizes, kind, layout, bias);
}

std::int64_t VectorLength() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8; }

}  // namespace ferry::detail::onednn
