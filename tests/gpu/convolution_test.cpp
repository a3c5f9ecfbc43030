// SPDX-License-Identifier: BSD-2-Clause
// Convolutions by the vendor's library, whatever Kokkos has kernels for.
#include <google/protobuf/text_format.h>

#include <array>
#include <catch2/catch_template_test_macros.hpp>

#include "ferry/nets/layer_registry.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/gpu/gpus.hpp"
#include "tests/nets/convolution_check.hpp"

namespace ferry::nets_test {
namespace {

using ferry::testing::EachGpu;

TEMPLATE_TEST_CASE("A convolution of any geometry on a GPU is that of plain loops", "", float, double) {
  const auto device = EachGpu();
  for (unsigned seed = 0; seed < 48; ++seed) {
    const ConvolutionSizes sizes = Drawn(seed);
    INFO("seed " << seed << ": " << Words(sizes));
    const Place place = seed % 2 == 0 ? Place(*device) : Place(Stream(*device));
    CheckMaps(*detail::MakeConvolution<TestType>(sizes, *device), sizes, place);
  }
  CHECK(ferry::testing::LastError() == "");
}

TEMPLATE_TEST_CASE("A convolution of one axis on a GPU is that of column matrices", "", float, double) {
  const auto device = EachGpu();
  ConvolutionSizes sizes;
  sizes.images = 2, sizes.in_channels = 3, sizes.out_channels = 4;
  Window& window = sizes.window;
  window.axes = 1;
  window.kernel[0] = 3, window.stride[0] = 2, window.pad[0] = 1, window.dilation[0] = 1;
  const std::int64_t image = 9;
  REQUIRE(window.SetImage(&image).empty());
  const Blob<TestType> x = BlobOf<TestType>(54, 1, *device), w = BlobOf<TestType>(36, 2, *device);
  Blob<TestType> y({40}, *device), expected({40}, *device);
  const auto part = [](const Blob<TestType>& blob) { return blob.part(BlobPart::kData); };
  detail::MakeConvolution<TestType>(sizes, *device)
      ->ToMaps(Place(*device), part(x), part(w), nullptr, part(y));
  detail::MakeGemmConvolution<TestType>(sizes, *device)
      ->ToMaps(Place::Cpu(*device), part(x), part(w), nullptr, part(expected));
  CheckNear(Doubles(expected), y, "the maps");
}

template <class T>
std::vector<double> Diffs(const Blob<T>& blob) {
  return {blob.cpu_diff(), blob.cpu_diff() + blob.count()};
}

/// The arrays of a convolution.
template <class T>
struct Arrays {
  Blob<T> images, weights, bias, maps;

  Arrays(const ConvolutionSizes& sizes, Device& device)
      : images(BlobOf<T>(sizes.images * sizes.ImageCount(), 1, device)),
        weights(BlobOf<T>(sizes.out_channels * sizes.KernelCount(), 2, device)),
        bias(BlobOf<T>(sizes.out_channels, 3, device)),
        maps({sizes.images * sizes.MapCount()}, device) {}

  /// Forward and backward.
  void Pass(detail::ConvolutionMaps<T>& by, const Place& place) {
    const auto data = [](const Blob<T>& blob) { return blob.part(BlobPart::kData); };
    const detail::Part biases = data(bias), bias_diff = bias.part(BlobPart::kDiff);
    by.ToMaps(place, data(images), data(weights), &biases, data(maps));
    by.AddToWeights(place, data(images), data(maps), weights.part(BlobPart::kDiff), &bias_diff);
    by.ToImages(place, data(maps), data(weights), images.part(BlobPart::kDiff));
  }
};

TEMPLATE_LIST_TEST_CASE(
    "A convolution by the vendor's library is on the GPU, moves nothing to the host, allocates nothing once "
    "it was run, and has the same bits each time",
    "", vendor::Convolved) {
  const auto device = EachGpu();
  const Stream stream(*device);
  const Place place(stream);
  ConvolutionSizes sizes = Drawn(0);
  sizes.images = 3, sizes.in_channels = 16, sizes.out_channels = 32, sizes.groups = 2;
  Window& window = sizes.window;
  window.kernel[0] = window.kernel[1] = 3;
  window.pad[0] = window.pad[1] = window.dilation[0] = window.dilation[1] = 1;
  const std::int64_t image[] = {15, 17};
  REQUIRE(window.SetImage(image).empty());
  Arrays<TestType> arrays(sizes, *device);
  const auto maps = detail::MakeConvolution<TestType>(sizes, *device);
  arrays.Pass(*maps, place);
  stream.Synchronize();
  const Statistics before = GetStatistics(*device);
  for (int pass = 0; pass < 3; ++pass) arrays.Pass(*maps, place);
  CHECK(arrays.maps.data()->head() == SyncedMemory::HEAD_AT_GPU);
  for (const auto* const blob : {&arrays.images, &arrays.weights, &arrays.bias})
    CHECK(blob->diff()->head() == SyncedMemory::HEAD_AT_GPU);
  const Statistics its = GetStatistics(*device) - before;
  CHECK(its.allocations.count == 0);
  CHECK(its.host_to_device.count == 0);
  CHECK(its.device_to_host.count == 0);

  Arrays<TestType> again(sizes, *device);
  const auto others = detail::MakeConvolution<TestType>(sizes, *device);
  for (int pass = 0; pass < 4; ++pass) again.Pass(*others, place);
  const auto bits = [](const Arrays<TestType>& of) {
    return std::array{Doubles(of.maps), Diffs(of.images), Diffs(of.weights), Diffs(of.bias)};
  };
  CHECK(bits(arrays) == bits(again));
}

/// Top, and the diffs of bottom, weights and bias, after a pass through a layer of images.
template <class T>
std::array<std::vector<double>, 4> PassThrough(const std::string& type, const Place& place) {
  Device& device = place.device();
  LayerParameter param;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(
      "name: 'it' convolution_param { num_output: 4 kernel_size: 3 stride: 2 pad: 1 group: 2 }", &param));
  param.set_type(type);
  Blob<T> bottom({2, 6, 7, 5}, device), top(device);
  const auto layer = LayerRegistry<T>::CreateLayer(param, place);
  layer->SetUp({&bottom}, {&top});
  const auto fill = [](T* to, std::int64_t count, std::uint64_t seed) {
    const std::vector<T> numbers = Numbers<T>(count, seed);
    std::copy(numbers.begin(), numbers.end(), to);
  };
  const Blob<T>*const weights = layer->blobs()[0].get(), *const bias = layer->blobs()[1].get();
  fill(bottom.overwrite_cpu_data(), bottom.count(), 1);
  fill(layer->blobs()[0]->overwrite_cpu_data(), weights->count(), 2);
  fill(layer->blobs()[1]->overwrite_cpu_data(), bias->count(), 3);
  fill(top.overwrite_cpu_diff(), top.count(), 4);
  layer->Forward({&bottom}, {&top});
  layer->Backward({&top}, {true}, {&bottom});
  return {Doubles(top), Diffs(bottom), Diffs(*weights), Diffs(*bias)};
}

TEMPLATE_TEST_CASE("Layers of convolutions have the values on a GPU that they have on the CPU", "", float,
                   double) {
  const auto device = EachGpu();
  for (const char* const type : {"Convolution", "Deconvolution"}) {
    const auto expected = PassThrough<TestType>(type, Place::Cpu(*device));
    const auto values = PassThrough<TestType>(type, Place(Stream(*device)));
    for (std::size_t which = 0; which < expected.size(); ++which) {
      INFO(type << ", array " << which);
      CheckNear<TestType>(expected[which], values[which], "it");
    }
  }
}

}  // namespace
}  // namespace ferry::nets_test
