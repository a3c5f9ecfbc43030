// SPDX-License-Identifier: BSD-2-Clause
// How fast are convolutions in the plain order of blobs, beside oneDNN called by hand in the order that it
// chooses? Those of whole nets, one after the other; a name with "layer" is one of them.
#include "core/nets/vision/convolution.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/blas.hpp"
#include "bench/compare.hpp"
#include "bench/nets/by_hand.hpp"
#include "ferry/backend.hpp"
#include "ferry/diff.hpp"
#include "ferry/place.hpp"

namespace {

using dnnl::memory;
using ferry::Place;
using ferry::detail::ConvolutionSizes;
using Tag = memory::format_tag;

struct Layer {
  int channels, size, outputs, kernel, stride, pad, groups = 1, times = 1;
};
struct Net {
  const char* name;
  int images;
  std::vector<Layer> layers;  ///< the first needs no gradient of its bottom
};

/// From the nets' descriptions; `times` that a geometry occurs.
const std::vector<Net>& Nets() {
  static const std::vector<Net> nets{
      {"LeNet", 64, {{1, 28, 20, 5, 1, 0}, {20, 12, 50, 5, 1, 0}}},
      {"CaffeNet",
       8,
       {{3, 227, 96, 11, 4, 0},
        {96, 27, 256, 5, 1, 2, 2},
        {256, 13, 384, 3, 1, 1},
        {384, 13, 384, 3, 1, 1, 2},
        {384, 13, 256, 3, 1, 1, 2}}},
      {"GoogLeNet",
       4,
       {{3, 224, 64, 7, 2, 3},         {64, 56, 64, 1, 1, 0},        {64, 56, 192, 3, 1, 1},
        {192, 28, 64, 1, 1, 0},        {192, 28, 96, 1, 1, 0},       {96, 28, 128, 3, 1, 1},
        {192, 28, 16, 1, 1, 0},        {16, 28, 32, 5, 1, 2},        {192, 28, 32, 1, 1, 0},
        {256, 28, 128, 1, 1, 0, 1, 2}, {128, 28, 192, 3, 1, 1},      {256, 28, 32, 1, 1, 0},
        {32, 28, 96, 5, 1, 2},         {256, 28, 64, 1, 1, 0},       {480, 14, 192, 1, 1, 0},
        {480, 14, 96, 1, 1, 0},        {96, 14, 208, 3, 1, 1},       {480, 14, 16, 1, 1, 0},
        {16, 14, 48, 5, 1, 2},         {480, 14, 64, 1, 1, 0},       {512, 14, 160, 1, 1, 0},
        {512, 14, 112, 1, 1, 0, 1, 2}, {112, 14, 224, 3, 1, 1},      {512, 14, 24, 1, 1, 0, 1, 2},
        {24, 14, 64, 5, 1, 2, 1, 2},   {512, 14, 64, 1, 1, 0, 1, 3}, {512, 14, 128, 1, 1, 0, 1, 2},
        {128, 14, 256, 3, 1, 1},       {512, 14, 144, 1, 1, 0},      {144, 14, 288, 3, 1, 1},
        {512, 14, 32, 1, 1, 0},        {32, 14, 64, 5, 1, 2},        {528, 14, 256, 1, 1, 0},
        {528, 14, 160, 1, 1, 0},       {160, 14, 320, 3, 1, 1},      {528, 14, 32, 1, 1, 0},
        {32, 14, 128, 5, 1, 2},        {528, 14, 128, 1, 1, 0},      {832, 7, 256, 1, 1, 0},
        {832, 7, 160, 1, 1, 0},        {160, 7, 320, 3, 1, 1},       {832, 7, 32, 1, 1, 0},
        {32, 7, 128, 5, 1, 2},         {832, 7, 128, 1, 1, 0, 1, 2}, {832, 7, 384, 1, 1, 0},
        {832, 7, 192, 1, 1, 0},        {192, 7, 384, 3, 1, 1},       {832, 7, 48, 1, 1, 0},
        {48, 7, 128, 5, 1, 2}}},
      {"ResNet-18",
       4,
       {{3, 224, 64, 7, 2, 3},
        {64, 56, 64, 3, 1, 1, 1, 4},
        {64, 56, 128, 1, 2, 0},
        {64, 56, 128, 3, 2, 1},
        {128, 28, 128, 3, 1, 1, 1, 3},
        {128, 28, 256, 1, 2, 0},
        {128, 28, 256, 3, 2, 1},
        {256, 14, 256, 3, 1, 1, 1, 3},
        {256, 14, 512, 1, 2, 0},
        {256, 14, 512, 3, 2, 1},
        {512, 7, 512, 3, 1, 1, 1, 3}}},
  };
  return nets;
}

ConvolutionSizes SizesOf(const Layer& layer, int images) {
  ConvolutionSizes sizes;
  sizes.images = images;
  sizes.in_channels = layer.channels;
  sizes.out_channels = layer.outputs;
  sizes.groups = layer.groups;
  sizes.window.axes = 2;
  const std::int64_t image[] = {layer.size, layer.size};
  for (int axis = 0; axis < 2; ++axis) {
    sizes.window.kernel[axis] = layer.kernel;
    sizes.window.stride[axis] = layer.stride;
    sizes.window.pad[axis] = layer.pad;
    sizes.window.dilation[axis] = 1;
  }
  sizes.window.SetImage(image);
  return sizes;
}

enum class Kind : std::uint8_t { kForward, kImages, kWeights };

/// Ferry's, with blobs of its own.
struct Subject {
  Subject(const ConvolutionSizes& sizes, ferry::Device& host)
      : place(Place::Cpu(host)),
        maps(ferry::detail::MakeConvolution<float>(sizes, host)),
        x({sizes.images, sizes.ImageCount()}, host),
        w({sizes.out_channels, sizes.KernelCount()}, host),
        b({sizes.out_channels}, host),
        y({sizes.images, sizes.MapCount()}, host) {
    for (auto* const blob : {&x, &w, &b, &y}) {
      ferry::Set(place, 0.25F, *blob);
      ferry::Set(place, 0.25F, Diff(*blob));
    }
  }
  void operator()(Kind kind) {
    const auto data = [](const ferry::Blob<float>& blob) { return blob.part(ferry::BlobPart::kData); };
    const auto diff = [](const ferry::Blob<float>& blob) { return blob.part(ferry::BlobPart::kDiff); };
    const ferry::detail::Part bias = data(b), bias_diff = diff(b);
    if (kind == Kind::kForward)
      maps->ToMaps(place, data(x), data(w), &bias, data(y));
    else if (kind == Kind::kImages)
      maps->ToImages(place, diff(y), data(w), diff(x));
    else
      maps->AddToWeights(place, data(x), diff(y), diff(w), &bias_diff);
  }

  Place place;
  std::unique_ptr<ferry::detail::ConvolutionMaps<float>> maps;
  ferry::Blob<float> x, w, b, y;
};

bench::ByHand MakeByHand(const ConvolutionSizes& sizes, Kind kind) {
  const auto& window = sizes.window;
  memory::dims weights{sizes.out_channels / sizes.groups, sizes.in_channels / sizes.groups, window.kernel[0],
                       window.kernel[1]};
  if (sizes.groups > 1) weights.insert(weights.begin(), sizes.groups);
  const memory::desc x =
      bench::Desc({sizes.images, sizes.in_channels, window.image[0], window.image[1]}, Tag::any);
  const memory::desc y =
      bench::Desc({sizes.images, sizes.out_channels, window.steps[0], window.steps[1]}, Tag::any);
  const memory::desc w = bench::Desc(weights, Tag::any), b = bench::Desc({sizes.out_channels}, Tag::x);
  const memory::dims stride{window.stride[0], window.stride[1]}, pad{window.pad[0], window.pad[1]};
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, x, w, b, y, stride, pad, pad}, bench::Engine());
  bench::ByHand made;
  if (kind == Kind::kForward) {
    made.primitive = dnnl::convolution_forward(forward);
    made.Add(DNNL_ARG_SRC, forward.src_desc());
    made.Add(DNNL_ARG_WEIGHTS, forward.weights_desc());
    made.Add(DNNL_ARG_BIAS, b);
    made.Add(DNNL_ARG_DST, forward.dst_desc());
  } else if (kind == Kind::kImages) {
    const dnnl::convolution_backward_data::primitive_desc backward({direct, x, w, y, stride, pad, pad},
                                                                   bench::Engine(), forward);
    made.primitive = dnnl::convolution_backward_data(backward);
    made.Add(DNNL_ARG_DIFF_SRC, backward.diff_src_desc());
    made.Add(DNNL_ARG_WEIGHTS, backward.weights_desc());
    made.Add(DNNL_ARG_DIFF_DST, backward.diff_dst_desc());
  } else {
    const dnnl::convolution_backward_weights::primitive_desc backward({direct, x, w, b, y, stride, pad, pad},
                                                                      bench::Engine(), forward);
    made.primitive = dnnl::convolution_backward_weights(backward);
    made.Add(DNNL_ARG_SRC, backward.src_desc());
    made.Add(DNNL_ARG_DIFF_WEIGHTS, backward.diff_weights_desc());
    made.Add(DNNL_ARG_DIFF_BIAS, b);
    made.Add(DNNL_ARG_DIFF_DST, backward.diff_dst_desc());
  }
  return made;
}

/// Both of some layers, made as they are first run.
class Both {
 public:
  Both(std::vector<Layer> layers, int images, Kind kind, ferry::Device& host)
      : layers_(std::move(layers)), images_(images), kind_(kind), host_(&host) {}
  void RunSubject() {
    Make();
    for (std::size_t i = 0; i < layers_.size(); ++i)
      for (int time = 0; time < layers_[i].times; ++time) (*subjects_[i])(kind_);
  }
  void RunReference() {
    Make();
    for (std::size_t i = 0; i < layers_.size(); ++i)
      for (int time = 0; time < layers_[i].times; ++time) by_hand_[i]();
  }

 private:
  void Make() {
    if (!subjects_.empty()) return;
    for (const Layer& layer : layers_) {
      const ConvolutionSizes sizes = SizesOf(layer, images_);
      subjects_.push_back(std::make_unique<Subject>(sizes, *host_));
      by_hand_.push_back(MakeByHand(sizes, kind_));
    }
  }

  std::vector<Layer> layers_;
  int images_;
  Kind kind_;
  ferry::Device* host_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  std::vector<bench::ByHand> by_hand_;
};

void Register(const std::string& name, double required, const std::vector<Layer>& layers, int images,
              Kind kind, ferry::Device& host) {
  const auto both = std::make_shared<Both>(layers, images, kind, host);
  bench::Compare(
      name, required, [both] { both->RunSubject(); }, [both] { both->RunReference(); })
      ->Unit(benchmark::kMillisecond);
}

std::string NameOf(const Layer& layer) {
  return std::to_string(layer.channels) + 'x' + std::to_string(layer.size) + " to " +
         std::to_string(layer.outputs) + " by " + std::to_string(layer.kernel);
}

const bool g_registered = [] {
  ferry::Device& host = ferry::GetDevice("host");
  const struct {
    const char* name;
    Kind kind;
  } kinds[] = {{"forward", Kind::kForward},
               {"gradient of images", Kind::kImages},
               {"gradient of weights", Kind::kWeights}};
  for (const Net& net : Nets())
    for (const auto& [name, kind] : kinds) {
      std::vector<Layer> layers = net.layers;
      if (kind == Kind::kImages) layers.erase(layers.begin());
      Register(std::string(net.name) + '/' + name, 0.95, layers, net.images, kind, host);
      for (Layer layer : layers) {
        layer.times = 1;
        Register(std::string(net.name) + '/' + name + "/layer " + NameOf(layer), 0, {layer}, net.images, kind,
                 host);
      }
    }
  return true;
}();

}  // namespace

int main(int argc, char** argv) {
  bench::UseOneThreadOfBestBlas(argv);
  return bench::Run(argc, argv);
}
