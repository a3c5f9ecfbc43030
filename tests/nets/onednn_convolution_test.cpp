// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "core/nets/vision/onednn/blocks.hpp"
#include "core/nets/vision/onednn/convolution.hpp"
#include "core/nets/vision/onednn/step.hpp"
#include "tests/nets/convolution_check.hpp"
#include "tests/nets/geometry.hpp"
#include "tests/sanitized.hpp"

extern "C" __attribute__((weak)) void omp_set_num_threads(int threads);

namespace ferry::nets_test {
namespace {

using detail::onednn::WeightBlocks;
using ferry::testing::World;

TEST_CASE("oneDNN is taken where it computes little more than is needed", "[convolution]") {
  struct Case {
    Geometry geometry;
    bool by_8, by_16;  ///< floats in a vector
  };
  for (const auto& [geometry, by_8, by_16] : std::vector<Case>{
           {{1, 16, 16, 1, {3, 3}, {9, 9}}, true, true},
           {{1, 64, 64, 1, {1, 1}, {9, 9}}, true, true},
           {{1, 24, 24, 1, {3, 3}, {9, 9}}, true, false},  // filled up to 32 x 32
           {{1, 60, 60, 1, {3, 3}, {9, 9}}, false, true},  // 1.14 times as much
           {{1, 20, 50, 1, {5, 5}, {12, 12}}, false, false},
           {{1, 3, 64, 1, {3, 3}, {9, 9}}, true, true},  // three channels as they are
           {{1, 1, 20, 1, {5, 5}, {28, 28}}, false, false},
           {{1, 40, 100, 2, {5, 5}, {12, 12}}, true, true},  // groups
           {{1, 1, 64, 1, {1, 1}, {8, 8}}, true, true},      // windows of one element: where rows are long
           {{1, 1, 64, 1, {1, 1}, {7, 7}}, false, false},
           {{1, 32, 64, 1, {1, 1}, {7, 7}}, false, true},  // or vectors of 16 are full
           {{1, 40, 64, 1, {1, 1}, {7, 7}}, false, false},
           {{1, 32, 64, 1, {1, 1}, {4, 4}}, false, false},  // and as many elements in all images
           {{2, 32, 64, 1, {1, 1}, {4, 4}}, false, true},
       }) {
    const ConvolutionSizes sizes = SizesOf(geometry);
    INFO(Words(sizes));
    CHECK(detail::OneDnnIsFaster(sizes, 8) == by_8);
    CHECK(detail::OneDnnIsFaster(sizes, 16) == by_16);
  }
}

/// Where in blocks a weight is.
std::int64_t InBlocks(const WeightBlocks& w, std::int64_t output, std::int64_t input, std::int64_t element) {
  const std::int64_t block = output / w.length * (w.inputs / w.length) + input / w.length;
  const bool of_outputs = w.vectors == WeightBlocks::Vectors::kOfOutputs;
  const std::int64_t row = (of_outputs ? input : output) % w.length;
  const std::int64_t lane = (of_outputs ? output : input) % w.length;
  return ((block * w.elements + element) * w.length + row) * w.length + lane;
}

TEST_CASE("Weights are copied to blocks, and added from them, each to its place", "[convolution]") {
  for (const std::int64_t length : {8, 16})
    for (const auto vectors : {WeightBlocks::Vectors::kOfOutputs, WeightBlocks::Vectors::kOfInputs})
      for (const std::int64_t elements : {1, 2, 3, 4, 9, 25}) {
        WeightBlocks w{3 * length, 2 * length, elements, length, 0, vectors};
        w.step = w.inputs * elements + 5;  // of which these are a part
        CAPTURE(length, vectors == WeightBlocks::Vectors::kOfOutputs, elements);
        const std::vector<float> plain = Numbers<float>(w.outputs * w.step, 1);
        std::vector<float> blocks(static_cast<std::size_t>(w.outputs * w.inputs * elements), 0);
        std::vector<float> expected = blocks, doubled = plain;
        for (std::int64_t o = 0; o < w.outputs; ++o)
          for (std::int64_t i = 0; i < w.inputs; ++i)
            for (std::int64_t e = 0; e < elements; ++e) {
              const auto at = static_cast<std::size_t>(o * w.step + i * elements + e);
              expected[static_cast<std::size_t>(InBlocks(w, o, i, e))] = plain[at];
              doubled[at] *= 2;
            }
        ToBlocks(w, plain.data(), blocks.data());
        CHECK(blocks == expected);
        std::vector<float> sums = plain;
        AddBlocks(w, blocks.data(), sums.data());
        CHECK(sums == doubled);
      }
}

/// Weights that fit no cache in one part, or that the library has in blocks.
std::vector<Geometry> Large() {
  return {{2, 256, 128, 1, {3, 3}, {3, 4}, 1}, {2, 128, 256, 1, {3, 3}, {4, 3}, 1},
          {3, 32, 64, 1, {5, 5}, {6, 5}},      {2, 64, 64, 2, {3, 3}, {5, 5}, 1},
          {1, 512, 256, 2, {3, 3}, {3, 3}, 1}, {2, 32, 48, 1, {1, 3}, {2, 7}},
          {2, 32, 32, 1, {1, 1}, {4, 7}},      {4, 16, 64, 1, {1, 2}, {64, 50}},
          {1, 16, 16, 1, {2, 2}, {9, 9}},      {1, 48, 128, 1, {7, 7}, {4, 4}, 3},
          {1, 256, 200, 1, {3, 3}, {3, 3}, 1}, {1, 200, 256, 1, {3, 3}, {3, 3}, 1}};  // no whole parts
}

TEST_CASE("oneDNN's maps are those of plain loops in parts of images and of channels", "[convolution]") {
  const Geometry geometry = GENERATE(from_range(Large()));
  const ConvolutionSizes sizes = SizesOf(geometry);
  const World world("host cpu");
  INFO(Words(sizes));
  CheckMaps(*detail::MakeOneDnnConvolution(sizes, world.device()), sizes, world.place());
  if (ferry::testing::kSanitized || omp_set_num_threads == nullptr) return;
  omp_set_num_threads(2);  // then the library copies all
  CheckMaps(*detail::MakeOneDnnConvolution(sizes, world.device()), sizes, world.place());
  omp_set_num_threads(1);
}

TEST_CASE("Copies in oneDNN's order fit a cache where a batch or weights are large", "[convolution]") {
  using detail::onednn::Kind;
  constexpr std::int64_t kFloats = 1 << 20;  // of 4 MiB
  for (const Geometry& geometry :
       {Geometry{64, 64, 64, 1, {3, 3}, {56, 56}, 1}, {4, 512, 512, 1, {3, 3}, {7, 7}, 1}})
    for (const Kind kind : {Kind::kToMaps, Kind::kToImages}) {
      const ConvolutionSizes sizes = SizesOf(geometry);
      INFO(Words(sizes));
      CHECK(detail::onednn::MakeStep(sizes, kind, detail::onednn::Layout::kItsOwn, true)->scratch() <
            kFloats);
    }
}

}  // namespace
}  // namespace ferry::nets_test
