// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/onednn/step.hpp"

#include <algorithm>
#include <dnnl.hpp>
#include <optional>
#include <unordered_map>

#include "core/nets/vision/onednn/blocks.hpp"
#include "core/nets/vision/onednn/run_sizes.hpp"
#include "core/nets/vision/onednn/team.hpp"

namespace ferry::detail::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr std::int64_t kAlignment = 16;  ///< in floats, a cache line

memory::desc Desc(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }
memory::desc Strided(const memory::dims& dims, const memory::dims& strides) {
  return {dims, memory::data_type::f32, strides};
}

memory::dims ImageDims(const ConvolutionSizes& sizes) {
  return {sizes.images, sizes.in_channels, sizes.window.image[0], sizes.window.image[1]};
}
memory::dims MapDims(const ConvolutionSizes& sizes) {
  return {sizes.images, sizes.out_channels, sizes.window.steps[0], sizes.window.steps[1]};
}
memory::dims WeightDims(const ConvolutionSizes& sizes) {
  const std::int64_t groups = sizes.groups;
  memory::dims dims{sizes.out_channels / groups, sizes.in_channels / groups, sizes.window.kernel[0],
                    sizes.window.kernel[1]};
  if (groups > 1) dims.insert(dims.begin(), groups);
  return dims;
}
/// As blobs have them, of arrays with these dims.
memory::dims Strides(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size() - 1; axis > 0; --axis) strides[axis - 1] = strides[axis] * dims[axis];
  return strides;
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

/// Blocks of weights that are in that order, if these are.
std::optional<WeightBlocks> BlocksOf(const ConvolutionSizes& sizes, const memory::desc& own,
                                     std::int64_t step) {
  using Vectors = WeightBlocks::Vectors;
  static constexpr struct {
    std::int64_t length;
    Vectors vectors;
    Tag tag, in_groups;
  } kOrders[] = {{16, Vectors::kOfOutputs, Tag::OIhw16i16o, Tag::gOIhw16i16o},
                 {16, Vectors::kOfInputs, Tag::OIhw16o16i, Tag::gOIhw16o16i},
                 {8, Vectors::kOfOutputs, Tag::OIhw8i8o, Tag::gOIhw8i8o},
                 {8, Vectors::kOfInputs, Tag::OIhw8o8i, Tag::gOIhw8o8i}};
  const std::int64_t inputs = sizes.in_channels / sizes.groups, outputs = sizes.out_channels / sizes.groups;
  if (sizes.window.KernelCount() == 1) return {};  // which the library copies as fast
  for (const auto& [length, vectors, tag, in_groups] : kOrders)
    if (inputs % length == 0 && outputs % length == 0 &&
        own == Desc(WeightDims(sizes), sizes.groups > 1 ? in_groups : tag))
      return WeightBlocks{sizes.out_channels, inputs, sizes.window.KernelCount(), length, step, vectors};
  return {};
}

class Primitives final : public Step {
 public:
  Primitives(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias);

  std::int64_t scratch() const noexcept override { return scratch_; }
  void Run(const Arrays& arrays) const override;

 private:
  enum class Way : std::uint8_t { kIn, kOut, kAddedOut };
  /// One of the arrays: as blobs have it, as the primitive has it, and the way between them.
  struct Argument {
    dnnl::memory::desc plain, own;
    Way way = Way::kIn;
    std::int64_t step = 0;  ///< from what one run has to what the next one has; 0 if all have the same
    bool copied = false;
    std::int64_t offset = 0;  ///< of the copy in the scratch
    dnnl::reorder reorder;
    std::optional<WeightBlocks> blocks;
  };

  void Make(const RunSizes& part, Layout layout, bool bias);
  void Set(Argument& argument, Way way);
  std::int64_t Reserve(std::size_t bytes);
  static memory Own(const Argument& argument, float* user, float* scratch);
  static void Copy(dnnl::stream& stream, const Argument& argument, float* user, float* scratch);

  Kind kind_;
  std::int64_t runs_ = 1, bias_count_ = 0, bias_step_ = 0;
  std::int64_t scratch_ = 0, bias_offset_ = 0, pad_offset_ = 0;
  Argument image_, weight_, map_;
  dnnl::memory::desc bias_, pad_;
  dnnl::primitive primitive_;
};

Primitives::Primitives(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias) : kind_(kind) {
  const RunSizes part = SizesOfRuns(sizes, kind, layout);
  runs_ = part.runs;
  Make(part, layout, bias);
  const memory::dims images = Strides(ImageDims(sizes)), maps = Strides(MapDims(sizes));
  const memory::dims weights = Strides(WeightDims(sizes));
  image_.plain = Strided(ImageDims(part.sizes), images);
  map_.plain = Strided(MapDims(part.sizes), maps);
  weight_.plain = Strided(WeightDims(part.sizes), weights);
  if (part.sizes.images != sizes.images) {
    image_.step = part.sizes.images * images[0];
    map_.step = part.sizes.images * maps[0];
  } else if (part.sizes.in_channels != sizes.in_channels) {
    image_.step = part.sizes.in_channels * images[1];
    weight_.step = part.sizes.in_channels * weights[1];
  } else if (part.sizes.out_channels != sizes.out_channels) {
    map_.step = part.sizes.out_channels * maps[1];
    weight_.step = part.sizes.out_channels * weights[0];
    bias_step_ = bias_count_;
  }
  Set(image_, kind == Kind::kToImages ? Way::kOut : Way::kIn);
  Set(weight_, kind == Kind::kToWeights ? Way::kAddedOut : Way::kIn);
  Set(map_, kind == Kind::kToMaps ? Way::kOut : Way::kIn);
  if (weight_.copied) weight_.blocks = BlocksOf(part.sizes, weight_.own, sizes.KernelCount());
  if (bias && kind == Kind::kToWeights) bias_offset_ = Reserve(bias_.get_size());
  pad_offset_ = Reserve(pad_.get_size());
  scratch_ += kAlignment;
}

/// The primitive, and the orders that it has chosen.
void Primitives::Make(const RunSizes& part, Layout layout, bool bias) {
  const ConvolutionSizes& sizes = part.sizes;
  const Tag tag = layout == Layout::kPlain ? Tag::nchw : Tag::any;
  const memory::desc images = Desc(ImageDims(sizes), tag), maps = Desc(MapDims(sizes), tag);
  const memory::desc weights = Desc(WeightDims(sizes), Tag::any);
  bias_count_ = bias ? sizes.out_channels : 0;
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
  if (kind_ == Kind::kToMaps) {
    image_.own = forward.src_desc(), weight_.own = forward.weights_desc(), map_.own = forward.dst_desc();
    pad_ = forward.scratchpad_desc();
    primitive_ = dnnl::convolution_forward(forward);
  } else if (kind_ == Kind::kToImages) {
    const dnnl::convolution_backward_data::primitive_desc backward(
        {algorithm, images, weights, maps, stride, dilation, pad, pad}, attributes, Engine(), forward);
    image_.own = backward.diff_src_desc(), weight_.own = backward.weights_desc();
    map_.own = backward.diff_dst_desc();
    pad_ = backward.scratchpad_desc();
    primitive_ = dnnl::convolution_backward_data(backward);
  } else {
    const dnnl::convolution_backward_weights::primitive_desc backward(
        {algorithm, images, weights, bias_, maps, stride, dilation, pad, pad}, attributes, Engine(), forward);
    image_.own = backward.src_desc(), weight_.own = backward.diff_weights_desc();
    map_.own = backward.diff_dst_desc();
    pad_ = backward.scratchpad_desc();
    primitive_ = dnnl::convolution_backward_weights(backward);
  }
}

std::int64_t Primitives::Reserve(std::size_t bytes) {
  const std::int64_t at = scratch_;
  const auto floats = static_cast<std::int64_t>((bytes + sizeof(float) - 1) / sizeof(float));
  scratch_ += (floats + kAlignment - 1) / kAlignment * kAlignment;
  return at;
}

void Primitives::Set(Argument& argument, Way way) {
  argument.way = way;
  argument.copied = way == Way::kAddedOut || argument.plain != argument.own;
  if (!argument.copied) return;
  argument.offset = Reserve(argument.own.get_size());
  dnnl::primitive_attr attributes;
  if (way == Way::kAddedOut) {
    dnnl::post_ops sum;
    sum.append_sum(1.0F);
    attributes.set_post_ops(sum);
  }
  const memory::desc &from = way == Way::kIn ? argument.plain : argument.own,
                     &to = way == Way::kIn ? argument.own : argument.plain;
  argument.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), from, Engine(), to, attributes));
}

memory Primitives::Own(const Argument& argument, float* user, float* scratch) {
  return {argument.own, Engine(), argument.copied ? scratch + argument.offset : user};
}

void Primitives::Copy(dnnl::stream& stream, const Argument& argument, float* user, float* scratch) {
  float* const copy = scratch + argument.offset;
  const bool in = argument.way == Way::kIn;
  if (argument.blocks && ThreadsAskedFor() == 1) {
    if (in)
      ToBlocks(*argument.blocks, user, copy);
    else
      AddBlocks(*argument.blocks, copy, user);
    return;
  }
  memory plain(argument.plain, Engine(), user), own(argument.own, Engine(), copy);
  argument.reorder.execute(stream, in ? plain : own, in ? own : plain);
}

void Primitives::Run(const Arrays& arrays) const {
  // The library leaves work to threads that it does not get.
  std::optional<AskForOne> alone;
  if (!Grants(ThreadsAskedFor())) alone.emplace();
  const auto address = reinterpret_cast<std::uintptr_t>(arrays.scratch);
  constexpr std::uintptr_t kBytes = kAlignment * sizeof(float);
  float* const scratch = arrays.scratch + (kBytes - address % kBytes) % kBytes / sizeof(float);
  dnnl::stream stream(Engine());
  const bool to_maps = kind_ == Kind::kToMaps, to_images = kind_ == Kind::kToImages;
  const bool to_weights = kind_ == Kind::kToWeights;
  memory pad(pad_, Engine(), scratch + pad_offset_);
  float* const sums = scratch + bias_offset_;
  for (std::int64_t run = 0; run < runs_; ++run) {
    const struct {
      const Argument& argument;
      float* user;
    } all[] = {{image_, arrays.images + run * image_.step},
               {weight_, arrays.weights + run * weight_.step},
               {map_, arrays.maps + run * map_.step}};
    for (const auto& [argument, user] : all)
      if (argument.copied && argument.way == Way::kIn && (run == 0 || argument.step != 0))
        Copy(stream, argument, user, scratch);
    std::unordered_map<int, memory> arguments{
        {to_images ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, Own(image_, all[0].user, scratch)},
        {to_weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, Own(weight_, all[1].user, scratch)},
        {to_maps ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, Own(map_, all[2].user, scratch)},
        {DNNL_ARG_SCRATCHPAD, pad}};
    float* const bias = arrays.bias + run * bias_step_;
    if (bias_count_ != 0)
      arguments[to_weights ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS] =
          memory(bias_, Engine(), to_weights ? sums : bias);
    primitive_.execute(stream, arguments);
    for (const auto& [argument, user] : all)
      if (argument.copied && argument.way != Way::kIn) Copy(stream, argument, user, scratch);
    stream.wait();
    if (to_weights)
      for (std::int64_t c = 0; c < bias_count_; ++c) bias[c] += sums[c];
  }
}

/// Gradients of weights. Their primitives ask for the threads that they were made for, whatever is asked for
/// now, and add up what each has left.
class OfTeamOrOne final : public Step {
 public:
  OfTeamOrOne(const ConvolutionSizes& sizes, Layout layout, bool bias)
      : team_(sizes, Kind::kToWeights, layout, bias), one_(OfOne(sizes, layout, bias)) {}

  std::int64_t scratch() const noexcept override { return std::max(team_.scratch(), one_.scratch()); }
  void Run(const Arrays& arrays) const override { (Grants(threads_) ? team_ : one_).Run(arrays); }

 private:
  static Primitives OfOne(const ConvolutionSizes& sizes, Layout layout, bool bias) {
    const AskForOne alone;
    return {sizes, Kind::kToWeights, layout, bias};
  }

  int threads_ = ThreadsAskedFor();
  Primitives team_, one_;
};

}  // namespace

std::unique_ptr<const Step> MakeStep(const ConvolutionSizes& sizes, Kind kind, Layout layout, bool bias) {
  if (kind == Kind::kToWeights && ThreadsAskedFor() > 1)
    return std::make_unique<const OfTeamOrOne>(sizes, layout, bias);
  return std::make_unique<const Primitives>(sizes, kind, layout, bias);
}

std::int64_t VectorLength() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8; }

}  // namespace ferry::detail::onednn
