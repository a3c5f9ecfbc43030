// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tests/property/scale.hpp"
#include "tests/property/world.hpp"

namespace ferry::testing {

/// run(steps, code) for each row of `length` accesses out of the first `letters` of the alphabet, whose
/// number is `code`; or for as many of them as Scale() says, which another seed changes. Says and returns how
/// many.
template <class RunOne>
std::uint64_t EachSequence(std::size_t length, std::size_t letters, std::uint64_t seed, RunOne run) {
  const auto total = static_cast<std::uint64_t>(std::llround(std::pow(letters, length)));
  const auto stride = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1 / std::min(1.0, Scale())));
  std::uint64_t ran = 0;
  std::vector<Step> steps(length);
  for (std::uint64_t code = seed % stride; code < total; code += stride, ++ran) {
    std::uint64_t rest = code;
    for (Step& step : steps) step = kAlphabet[rest % letters], rest /= letters;
    run(steps, code);
  }
  std::printf("length %zu of %zu letters, seed %llu: ran %llu of %llu sequences\n", length, letters,
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(ran),
              static_cast<unsigned long long>(total));
  return ran;
}

}  // namespace ferry::testing
