// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/convolution.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#ifdef FERRY_HAS_ONEDNN
#include "core/nets/vision/onednn/convolution.hpp"
#endif
#include "ferry/nets/layer_registry.hpp"
#include "ferry/observer.hpp"
#include "tests/nets/convolution_check.hpp"
#include "tests/sanitized.hpp"

namespace ferry::nets_test {
namespace {

using ferry::testing::ValuesOf;
using ferry::testing::World;

TEMPLATE_TEST_CASE("Convolutions of any geometry are those of plain loops, by BLAS and by oneDNN",
                   "[convolution]", float, double) {
  const std::string where = ferry::testing::Everywhere();
  for (unsigned seed = 0; seed < 48; seed += ferry::testing::kSanitized ? 3 : 1) {
    const World world(where);
    const ConvolutionSizes sizes = Drawn(seed);
    INFO(where << ", seed " << seed << ": " << Words(sizes));
    CheckMaps(*detail::MakeGemmConvolution<TestType>(sizes, world.device()), sizes, world.place());
#ifdef FERRY_HAS_ONEDNN
    if constexpr (std::is_same_v<TestType, float>)
      if (const auto made = detail::MakeOneDnnConvolution(sizes, world.device()))
        CheckMaps(*made, sizes, world.place());
#endif
  }
}

TEMPLATE_TEST_CASE("Column matrices of many rows are multiplied slice by slice", "[convolution]", float,
                   double) {
  struct Case {
    std::int64_t groups, channels;
    std::int64_t kernel[2], stride[2], pad[2], dilation[2], image[2];
  };
  const auto [groups, channels, kernel, stride, pad, dilation, image] = GENERATE(from_range(std::vector<Case>{
      {1, 12, {5, 3}, {1, 1}, {0, 0}, {1, 1}, {9, 10}},
      {2, 12, {3, 3}, {1, 2}, {2, 1}, {2, 1}, {7, 9}},
      {3, 11, {2, 4}, {1, 3}, {1, 3}, {1, 2}, {2, 8}},
      {1, 33, {4, 1}, {1, 1}, {0, 0}, {2, 1}, {9, 1}},  // images are the matrix
      {1, 33, {4, 1}, {1, 1}, {3, 0}, {1, 1}, {3, 1}},
      {2, 34, {3, 1}, {1, 1}, {1, 0}, {1, 1}, {5, 6}},
  }));
  ConvolutionSizes sizes;
  sizes.images = 3;
  sizes.groups = groups;
  sizes.in_channels = groups * channels;
  sizes.out_channels = groups * 5;
  sizes.window.axes = 2;
  for (int axis = 0; axis < 2; ++axis) {
    sizes.window.kernel[axis] = kernel[axis];
    sizes.window.stride[axis] = stride[axis];
    sizes.window.pad[axis] = pad[axis];
    sizes.window.dilation[axis] = dilation[axis];
  }
  REQUIRE(sizes.window.SetImage(image).empty());
  const World world(ferry::testing::Everywhere());
  INFO(Words(sizes));
  CheckMaps(*detail::MakeGemmConvolution<TestType>(sizes, world.device()), sizes, world.place());

  // The same with an axis more or less, which has one element.
  ConvolutionSizes other = sizes;
  Window& window = other.window;
  window.axes = image[1] == 1 ? 1 : 3;
  window.kernel[2] = window.stride[2] = window.dilation[2] = window.image[2] = window.steps[2] = 1;
  CheckMaps(*detail::MakeGemmConvolution<TestType>(other, world.device()), sizes, world.place());
}

TEST_CASE("A map by column matrices is one call, however many images and slices there are", "[convolution]") {
  struct Calls : Observer {
    using Observer::On;
    void On(const CallRecord& call) override { operands.push_back(call.operands.size()); }
    std::vector<std::size_t> operands;
  };
  ConvolutionSizes sizes;
  sizes.images = 3, sizes.in_channels = 2 * 12, sizes.out_channels = 2 * 5, sizes.groups = 2;
  sizes.window.axes = 2;
  for (int axis = 0; axis < 2; ++axis)
    sizes.window.kernel[axis] = 3, sizes.window.stride[axis] = sizes.window.dilation[axis] = 1;
  const std::int64_t image[] = {6, 7};
  REQUIRE(sizes.window.SetImage(image).empty());
  const World world(ferry::testing::Everywhere());
  const auto maps = detail::MakeGemmConvolution<float>(sizes, world.device());
  const Blob<float> x = BlobOf<float>(3 * sizes.ImageCount(), 1, world.device());
  const Blob<float> w = BlobOf<float>(sizes.out_channels * sizes.KernelCount(), 2, world.device());
  const Blob<float> b = BlobOf<float>(sizes.out_channels, 3, world.device());
  Blob<float> y({3 * sizes.MapCount()}, world.device());
  const auto data = [](const Blob<float>& blob) { return blob.part(BlobPart::kData); };
  const auto diff = [](const Blob<float>& blob) { return blob.part(BlobPart::kDiff); };
  const detail::Part bias = data(b), bias_diff = diff(b);

  const auto calls = std::make_shared<Calls>();
  const Watch watch(calls);
  maps->ToMaps(world.place(), data(x), data(w), &bias, data(y));
  CHECK(calls->operands == std::vector<std::size_t>{4, 2});  // the scratch is one; the bias is another call
  calls->operands.clear();
  maps->ToImages(world.place(), data(y), data(w), diff(x));
  CHECK(calls->operands == std::vector<std::size_t>{4});
  calls->operands.clear();
  maps->AddToWeights(world.place(), data(x), data(y), diff(w), &bias_diff);
  CHECK(calls->operands == std::vector<std::size_t>{4, 2, 2});
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

TEST_CASE("Slices are not taken where they have more lines than the column matrix", "[convolution]") {
  struct Scratch : Observer {
    using Observer::On;
    void On(const CallRecord& call) override { bytes = call.operands.back().range.bytes; }
    std::size_t bytes = 0;
  };
  ConvolutionSizes sizes;
  sizes.images = 1, sizes.in_channels = 40, sizes.out_channels = 2;
  sizes.window.axes = 2;
  for (int axis = 0; axis < 2; ++axis) {
    sizes.window.kernel[axis] = 3 - 2 * axis, sizes.window.stride[axis] = sizes.window.dilation[axis] = 1;
  }
  sizes.window.dilation[0] = sizes.window.pad[0] = 500;
  const std::int64_t image[] = {4, 5};
  REQUIRE(sizes.window.SetImage(image).empty());
  const World world("host cpu");
  const Blob<double> x = BlobOf<double>(sizes.ImageCount(), 1, world.device());
  const Blob<double> w = BlobOf<double>(2 * sizes.KernelCount(), 2, world.device());
  Blob<double> y({sizes.MapCount()}, world.device());
  const auto scratch = std::make_shared<Scratch>();
  const Watch watch(scratch);
  const auto data = [](const Blob<double>& blob) { return blob.part(BlobPart::kData); };
  detail::MakeGemmConvolution<double>(sizes, world.device())
      ->ToMaps(world.place(), data(x), data(w), nullptr, data(y));
  const std::int64_t matrix = sizes.KernelCount() * sizes.window.StepCount();
  CHECK(scratch->bytes == sizeof(double) * static_cast<std::size_t>(matrix));
}

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

TEST_CASE("A convolution refuses to write what it reads", "[convolution]") {
  const World world(ferry::testing::Everywhere());
  const auto why = Catch::Matchers::ContainsSubstring("share elements");
  for (const char* const type : {"Convolution", "Deconvolution"}) {
    Run<float> run(type, "num_output: 16 kernel_size: 1", {2, 16, 3, 3}, world.place());
    Blob<float> other({2, 16, 3, 3}, world.device()), other_top(world.device());
    const std::vector<Blob<float>*> bottoms{&run.bottom, &other}, tops{&run.top, &other_top};
    const std::vector<float> numbers = Numbers<float>(other.count(), 1);
    for (Blob<float>* const bottom : bottoms)
      std::copy(numbers.begin(), numbers.end(), bottom->overwrite_cpu_data());
    run.layer->Forward(bottoms, tops);
    for (Blob<float>* const bottom : bottoms) {  // its own, and the other one's
      run.top.ShareData(*bottom);
      CHECK_THROWS_WITH(run.layer->Forward(bottoms, tops), why);
      CHECK(ValuesOf(*bottom, world.device()) == numbers);
      run.top.ShareDiff(*bottom);
      CHECK_THROWS_WITH(run.layer->Backward(tops, {true, true}, bottoms), why);
    }
    run.layer->Backward(tops, {true, false}, bottoms);  // which writes no gradient of the other
    Blob<float> whole({3, 16, 3, 3}, world.device());
    Blob<float> first = whole.Slice(0, 2), second = whole.Slice(1, 2);
    CHECK_THROWS_WITH(run.layer->Forward({&run.bottom, &second}, {&first, &other_top}), why);
    Run<float> none(type, "num_output: 16 kernel_size: 1", {0, 16, 3, 3}, world.place());
    none.layer->Forward({&none.bottom}, {&none.top});
    CHECK(none.top.count() == 0);
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
