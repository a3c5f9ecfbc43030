// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/convolution.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <random>

#ifdef FERRY_HAS_ONEDNN
#include "core/nets/vision/onednn/convolution.hpp"
#endif
#include "ferry/nets/layer_registry.hpp"
#include "tests/unit/kernels_world.hpp"

namespace ferry::nets_test {
namespace {

using detail::ConvolutionSizes;
using detail::Window;
using ferry::testing::Numbers;
using ferry::testing::ValuesOf;
using ferry::testing::World;

/// Calls use(image element, weight, map element) for each product of a convolution of two spatial axes.
template <class Use>
void ForEachProduct(const ConvolutionSizes& sizes, const Use& use) {
  const Window& w = sizes.window;
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

/// A geometry of its own for each seed. The kinds that oneDNN and the column matrix treat apart are among
/// the first.
ConvolutionSizes Drawn(unsigned seed) {
  std::mt19937 engine(seed);
  const auto draw = [&](int from, int to) {
    return std::int64_t{from} + static_cast<int>(engine() % static_cast<unsigned>(to - from + 1));
  };
  ConvolutionSizes sizes;
  sizes.groups = seed % 4 == 3 ? draw(2, 3) : 1;
  sizes.images = draw(1, 5);
  sizes.in_channels = sizes.groups * (seed % 5 == 4 ? 16 : draw(1, 4));
  sizes.out_channels = sizes.groups * (seed % 5 == 4 ? 16 : draw(1, 4));
  if (seed % 8 == 7) sizes.in_channels = sizes.out_channels = sizes.groups;  // one channel each
  Window& w = sizes.window;
  w.axes = 2;
  for (int axis = 0; axis < 2; ++axis) {
    w.kernel[axis] = seed % 3 == 0 ? 1 : draw(1, 4);
    w.stride[axis] = seed % 6 == 0 ? 1 : draw(1, 3);
    w.pad[axis] = seed % 6 == 0 ? 0 : draw(0, 3);
    w.dilation[axis] = draw(1, 2);
    w.image[axis] = std::max<std::int64_t>(draw(1, 11), w.Extent(axis) - 2 * w.pad[axis]);
  }
  REQUIRE(w.SetImage(Window(w).image).empty());
  return sizes;
}

template <class T>
Blob<T> BlobOf(std::int64_t count, std::uint64_t seed, Device& device) {
  Blob<T> blob({count}, device);
  const std::vector<T> numbers = Numbers<T>(count, seed);
  std::copy(numbers.begin(), numbers.end(), blob.overwrite_cpu_data());
  return blob;
}

template <class T>
void CheckNear(const std::vector<double>& expected, const Blob<T>& blob, const char* what) {
  double largest = 1, worst = 0;
  const T* const values = blob.cpu_data();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double difference = std::abs(expected[i] - static_cast<double>(values[i]));
    if (!(difference <= worst)) worst = difference;
  }
  INFO(what << " is off by " << worst << " of " << largest);
  CHECK(worst <= (sizeof(T) == 4 ? 1e-5 : 1e-12) * largest);
}

template <class T>
std::vector<double> Doubles(const Blob<T>& blob) {
  return {blob.cpu_data(), blob.cpu_data() + blob.count()};
}

/// All maps of these sizes against plain loops. Twice, so that what is kept from call to call is used.
template <class T>
void CheckMaps(detail::ConvolutionMaps<T>& maps, const ConvolutionSizes& sizes, const Place& place) {
  Device& device = place.device();
  const std::int64_t pixels = sizes.window.StepCount();
  for (const std::uint64_t seed : {1U, 2U}) {
    Blob<T> x = BlobOf<T>(sizes.images * sizes.ImageCount(), seed, device);
    Blob<T> w = BlobOf<T>(sizes.out_channels * sizes.KernelCount(), seed + 10, device);
    Blob<T> b = BlobOf<T>(sizes.out_channels, seed + 20, device);
    Blob<T> y = BlobOf<T>(sizes.images * sizes.MapCount(), seed + 30, device);
    const std::vector<double> xs = Doubles(x), ws = Doubles(w), bs = Doubles(b), ys = Doubles(y);

    std::vector<double> images(xs.size(), 0), weights = ws, biases = bs;
    ForEachProduct(sizes, [&](std::size_t i, std::size_t k, std::size_t o) {
      images[i] += ws[k] * ys[o];
      weights[k] += xs[i] * ys[o];
    });
    const auto channel = [&](std::size_t o) {
      return static_cast<std::size_t>(static_cast<std::int64_t>(o) / pixels % sizes.out_channels);
    };
    for (std::size_t o = 0; o < ys.size(); ++o) biases[channel(o)] += ys[o];
    Blob<T> dx = BlobOf<T>(x.count(), seed + 40, device);
    const auto part = [](const Blob<T>& blob) { return blob.part(BlobPart::kData); };
    maps.ToImages(place, part(y), part(w), part(dx));
    CheckNear(images, dx, "the images");

    Blob<T> out = BlobOf<T>(y.count(), seed + 50, device);
    for (const bool bias : {false, true}) {
      std::vector<double> expected(ys.size(), 0);
      for (std::size_t o = 0; o < ys.size(); ++o) expected[o] = bias ? bs[channel(o)] : 0;
      ForEachProduct(sizes,
                     [&](std::size_t i, std::size_t k, std::size_t o) { expected[o] += xs[i] * ws[k]; });
      const detail::Part of = part(b);
      maps.ToMaps(place, part(x), part(w), bias ? &of : nullptr, part(out));
      CheckNear(expected, out, "the maps");
    }
    Blob<T> dw = BlobOf<T>(w.count(), seed + 10, device), db = BlobOf<T>(b.count(), seed + 20, device);
    const detail::Part of = part(db);
    maps.AddToWeights(place, part(x), part(y), part(dw), &of);
    CheckNear(weights, dw, "the weights");
    CheckNear(biases, db, "the bias");
    maps.AddToWeights(place, part(x), part(y), part(dw), nullptr);
    for (std::size_t k = 0; k < ws.size(); ++k) weights[k] += weights[k] - ws[k];
    CheckNear(weights, dw, "the weights, added to once more");
    CheckNear(biases, db, "the bias, left alone");
  }
}

TEMPLATE_TEST_CASE("Convolutions of any geometry are those of plain loops, by BLAS and by oneDNN",
                   "[convolution]", float, double) {
  const std::string where = ferry::testing::Everywhere();
  for (unsigned seed = 0; seed < 48; ++seed) {
    const World world(where);
    const ConvolutionSizes sizes = Drawn(seed);
    const Window& w = sizes.window;
    INFO(where << ", seed " << seed << ": " << sizes.images << " images, " << sizes.in_channels << " to "
               << sizes.out_channels << " channels in " << sizes.groups << " groups, image " << w.image[0]
               << " x " << w.image[1] << ", kernel " << w.kernel[0] << " x " << w.kernel[1] << ", stride "
               << w.stride[0] << ' ' << w.stride[1] << ", pad " << w.pad[0] << ' ' << w.pad[1]
               << ", dilation " << w.dilation[0] << ' ' << w.dilation[1]);
    CheckMaps(*detail::MakeGemmConvolution<TestType>(sizes, world.device()), sizes, world.place());
#ifdef FERRY_HAS_ONEDNN
    if constexpr (std::is_same_v<TestType, float>)
      if (const auto made = detail::MakeOneDnnConvolution(sizes, world.device()))
        CheckMaps(*made, sizes, world.place());
#endif
  }
}

template <class T>
struct Run {
  std::shared_ptr<Layer<T>> layer;
  Blob<T> bottom, top;

  Run(const std::string& type, const std::string& param, std::initializer_list<std::int64_t> shape,
      const Place& place)
      : bottom(shape, place.device()), top(place.device()) {
    LayerParameter message;
    message.set_name("layer");
    message.set_type(type);
    REQUIRE(google::protobuf::TextFormat::ParseFromString(param, message.mutable_convolution_param()));
    layer = LayerRegistry<T>::CreateLayer(message, place);
    layer->SetUp({&bottom}, {&top});
  }
};

TEST_CASE("A convolution follows a bottom that changes its size", "[convolution]") {
  const World world(ferry::testing::Everywhere());
  const auto fill = [](Blob<float>& blob, std::uint64_t seed) {
    const std::vector<float> numbers = Numbers<float>(blob.count(), seed);
    std::copy(numbers.begin(), numbers.end(), blob.overwrite_cpu_data());
  };
  const std::string param = "num_output: 16 kernel_size: 3 pad: 1 stride: 2";
  for (const char* const type : {"Convolution", "Deconvolution"}) {
    Run<float> run(type, param, {2, 16, 8, 9}, world.place());
    for (const auto& [n, h] : {std::pair(2, 8), std::pair(5, 3), std::pair(1, 12), std::pair(2, 8)}) {
      run.bottom.Reshape({n, 16, h, 9});
      Run<float> fresh(type, param, {n, 16, h, 9}, world.place());
      for (Run<float>* const each : {&run, &fresh}) {
        fill(each->bottom, 1);
        for (int i = 0; i < 2; ++i) fill(*each->layer->blobs()[static_cast<std::size_t>(i)], 2);
        each->layer->Forward({&each->bottom}, {&each->top});
      }
      CHECK(run.top.shape() == fresh.top.shape());
      CHECK(ValuesOf(run.top, world.device()) == ValuesOf(fresh.top, world.device()));
    }
  }
}

TEST_CASE("A convolution that cannot be says why", "[convolution]") {
  struct Case {
    const char* param;
    const char* why;
  };
  const World world("host cpu");
  const auto why = GENERATE(from_range(std::vector<Case>{
      {"num_output: 4 kernel_size: 0", "kernel is 0 for spatial axis 0; it must be 1 to 2147483647"},
      {"num_output: 4 kernel_size: 3 stride: 0", "stride is 0 for spatial axis 0"},
      {"num_output: 4 kernel_size: 3 dilation: 0", "dilation is 0 for spatial axis 0"},
      {"num_output: 4 kernel_size: 3 group: 0", "group is 0; it must be 1 or more"},
      {"num_output: 4 kernel_size: 3 group: 3", "group is 3; it must divide the bottom's 4 channels"},
      {"kernel_size: 3", "num_output is 0"},
      {"num_output: 4", "kernel_size is given 0 times for 2 spatial axes"},
      {"num_output: 4 kernel_size: 3 kernel_size: 3 kernel_size: 3", "kernel_size is given 3 times"},
      {"num_output: 4 kernel_size: 3 kernel_h: 3 kernel_w: 3", "kernel is said in two ways"},
      {"num_output: 4 kernel_h: 3", "kernel is 0 for spatial axis 1"},
      {"num_output: 4 kernel_size: 3 pad: 1 pad_h: 1", "pad is said in two ways"},
      {"num_output: 4 kernel_size: 9", "are too few for the window along spatial axis 0 (kernel 9"},
      {"num_output: 4 kernel_size: 3 axis: 0 kernel_h: 1", "are for 2 spatial axes; the bottom has 3"},
  }));
  CHECK_THROWS_WITH((Run<float>("Convolution", why.param, {1, 4, 5, 5}, world.place())),
                    Catch::Matchers::StartsWith("layer 'layer' (Convolution): ") &&
                        Catch::Matchers::ContainsSubstring(why.why));
}

}  // namespace
}  // namespace ferry::nets_test
