// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/nets/vision/pooling.hpp"
#include "tests/unit/kernels_world.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {

/// Few different values, so that windows have equal ones.
template <class T>
std::vector<T> Coarse(std::int64_t n, std::uint64_t seed) {
  std::vector<T> values = ferry::testing::Numbers<T>(n, seed);
  for (T& value : values) value = std::round(value * 4) / 4;
  return values;
}

/// What a plain loop over windows gives.
template <class T>
struct PlainPooling {
  std::vector<T> most, mean, most_gradient, mean_gradient;
  std::vector<int> mask;

  PlainPooling(const detail::PoolSizes& sizes, const std::vector<T>& x, const std::vector<T>& dy)
      : most_gradient(x.size(), 0), mean_gradient(x.size(), 0) {
    for (std::int64_t plane = 0; plane < sizes.planes; ++plane)
      for (std::int64_t i = 0; i < sizes.h.pooled; ++i)
        for (std::int64_t j = 0; j < sizes.w.pooled; ++j) {
          const std::int64_t top = i * sizes.h.stride - sizes.h.pad, left = j * sizes.w.stride - sizes.w.pad;
          const std::int64_t bottom = std::min(top + sizes.h.kernel, sizes.h.size + sizes.h.pad);
          const std::int64_t right = std::min(left + sizes.w.kernel, sizes.w.size + sizes.w.pad);
          const T size = static_cast<T>((bottom - top) * (right - left)), gradient = dy[most.size()];
          most.push_back(-FLT_MAX);
          mean.push_back(0);
          mask.push_back(-1);
          const std::int64_t first = plane * sizes.h.size * sizes.w.size;
          for (std::int64_t h = std::max<std::int64_t>(top, 0); h < std::min(bottom, sizes.h.size); ++h)
            for (std::int64_t w = std::max<std::int64_t>(left, 0); w < std::min(right, sizes.w.size); ++w) {
              const std::int64_t at = h * sizes.w.size + w;
              const T value = x[static_cast<std::size_t>(first + at)];
              mean.back() += value;
              mean_gradient[static_cast<std::size_t>(first + at)] += gradient / size;
              if (!(value > most.back())) continue;
              most.back() = value;
              mask.back() = static_cast<int>(at);
            }
          mean.back() /= size;
          if (mask.back() >= 0) most_gradient[static_cast<std::size_t>(first + mask.back())] += gradient;
        }
  }
};

template <class T>
void CheckNearPooled(const std::vector<T>& values, const std::vector<T>& expected) {
  REQUIRE(values.size() == expected.size());
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::isnan(values[i]) && std::isnan(expected[i])) && values[i] != expected[i])
      worst.Take(std::abs(values[i] - expected[i]), i);
  INFO("element " << worst.at());
  CHECK(worst.difference() <= (sizeof(T) == 4 ? T(1e-5) : T(1e-12)));
}

}  // namespace ferry::nets_test
