// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/lrn.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/diff.hpp"
#include "tests/unit/kernels_world.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

using detail::LrnFactors;
using detail::LrnSizes;
using ferry::testing::Everywhere;
using ferry::testing::Numbers;
using ferry::testing::World;

/// Of one image: f(x, scale) at the index of a channel's pixel, summed over the window around that channel.
template <class F>
double OverWindow(const LrnSizes& sizes, std::int64_t index, const F& f) {
  const std::int64_t channel = index / sizes.pixels, pixel = index % sizes.pixels, half = sizes.window / 2;
  double sum = 0;
  for (std::int64_t c = std::max<std::int64_t>(channel - half, 0);
       c <= std::min(channel + half, sizes.channels - 1); ++c)
    sum += f(static_cast<std::size_t>(c * sizes.pixels + pixel));
  return sum;
}

TEMPLATE_TEST_CASE("LRN over channels is that of a plain loop, whatever the window and the image", "[lrn]",
                   float, double) {
  using T = TestType;
  const std::string where = Everywhere();
  const World world(where);
  for (const std::int64_t window : {1, 5, 7, 9, 15})
    for (const std::int64_t channels : {1, 3, 20})
      for (const std::int64_t pixels : {1, 255, 700})
        for (const double beta : {0.75, 0.6}) {
          INFO(where << ", window " << window << ", " << channels << " channels of " << pixels << ", beta "
                     << beta);
          const LrnSizes sizes{1, channels, pixels, window};
          const LrnFactors<T> factors{T(0.5), static_cast<T>(beta), 2};
          const Shape shape{channels, pixels};
          Blob<T> x(shape, world.device()), scale(shape, world.device()), y(shape, world.device());
          const std::vector<T> xs = Numbers<T>(x.count(), 3), dys = Numbers<T>(x.count(), 4);
          std::copy(xs.begin(), xs.end(), x.overwrite_cpu_data());
          std::copy(dys.begin(), dys.end(), y.overwrite_cpu_diff());
          detail::LrnAcross(world.place(), sizes, factors, Read(x), Overwrite(scale), Overwrite(y));
          detail::LrnAcrossGradient<T>(world.place(), sizes, factors, Read(x), Read(scale), Read(y),
                                       Read(Diff(y)), Overwrite(Diff(x)));

          std::vector<double> scales(xs.size());
          for (std::size_t i = 0; i < xs.size(); ++i)
            scales[i] = 2 + 0.5 / static_cast<double>(window) *
                                OverWindow(sizes, static_cast<std::int64_t>(i), [&](std::size_t at) {
                                  return static_cast<double>(xs[at]) * xs[at];
                                });
          ferry::testing::Worst worst;
          const auto compare = [&](T value, double expected) { worst.Take(std::abs(value - expected)); };
          for (std::size_t i = 0; i < xs.size(); ++i) {
            compare(scale.cpu_data()[i], scales[i]);
            compare(y.cpu_data()[i], xs[i] * std::pow(scales[i], -beta));
            const double sum = OverWindow(sizes, static_cast<std::int64_t>(i), [&](std::size_t at) {
              return dys[at] * xs[at] * std::pow(scales[at], -beta - 1);
            });
            compare(x.cpu_diff()[i],
                    dys[i] * std::pow(scales[i], -beta) - beta / static_cast<double>(window) * xs[i] * sum);
          }
          CHECK(worst.difference() <= (sizeof(T) == 4 ? 3e-6 : 1e-14));
        }
}

}  // namespace
}  // namespace ferry::nets_test
