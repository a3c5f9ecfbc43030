// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/nets/plain_convolution.hpp"
#include "tests/unit/kernels_world.hpp"
#include "tests/worst.hpp"

/// What tests of convolutions share.
namespace ferry::nets_test {

using detail::ConvolutionSizes;
using detail::Window;
using ferry::testing::Numbers;

/// A geometry of its own for each seed. The kinds that oneDNN and the column matrix treat apart are among
/// the first.
inline ConvolutionSizes Drawn(unsigned seed) {
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

inline std::string Words(const ConvolutionSizes& sizes) {
  const Window& w = sizes.window;
  std::ostringstream words;
  words << sizes.images << " images, " << sizes.in_channels << " to " << sizes.out_channels << " channels in "
        << sizes.groups << " groups, image " << w.image[0] << " x " << w.image[1] << ", kernel "
        << w.kernel[0] << " x " << w.kernel[1] << ", stride " << w.stride[0] << ' ' << w.stride[1] << ", pad "
        << w.pad[0] << ' ' << w.pad[1] << ", dilation " << w.dilation[0] << ' ' << w.dilation[1];
  return words.str();
}

template <class T>
Blob<T> BlobOf(std::int64_t count, std::uint64_t seed, Device& device) {
  Blob<T> blob({count}, device);
  const std::vector<T> numbers = Numbers<T>(count, seed);
  std::copy(numbers.begin(), numbers.end(), blob.overwrite_cpu_data());
  return blob;
}

template <class T>
std::vector<double> Doubles(const Blob<T>& blob) {
  return {blob.cpu_data(), blob.cpu_data() + blob.count()};
}

/// For values that were computed in T.
template <class T>
void CheckNear(const std::vector<double>& expected, const std::vector<double>& values, const char* what) {
  REQUIRE(values.size() == expected.size());
  double largest = 1;
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst.Take(std::abs(expected[i] - values[i]));
  }
  INFO(what << " is off by " << worst.difference() << " of " << largest);
  CHECK(worst.difference() <= (sizeof(T) == 4 ? 1e-5 : 1e-12) * largest);
}
template <class T>
void CheckNear(const std::vector<double>& expected, const Blob<T>& blob, const char* what) {
  CheckNear<T>(expected, Doubles(blob), what);
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

}  // namespace ferry::nets_test
