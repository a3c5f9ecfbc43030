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
  const std::uint64_t stride = Stride(letters);
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

/// run(options, steps) for each such row of the whole alphabet, on one kind of machine.
template <class RunOne>
std::uint64_t EachSequenceOn(bool unified, bool stacked, std::size_t length, RunOne run) {
  return EachSequence(length, kAlphabet.size(), 0, [&](const std::vector<Step>& steps, std::uint64_t code) {
    run(
        World::Options{
            .machine = {.seed = code, .unified = unified}, .late_kernels = code % 2 == 1, .stacked = stacked},
        steps);
  });
}

/// What the alphabet leaves out: streams that are folded, and bytes that are adopted, copied and resized. For
/// two memories.
inline std::vector<Step> Eventful() {
  using enum Verb;
  return {{kOverwrite, Side::kGpu, 1},
          {kNewStream},
          {kRead, Side::kGpu, 2},
          {kDropStream, Side::kGpu, 2},
          {kRead, Side::kGpu},
          {kAssign, Side::kGpu, 0, 1, 9},
          {kReadWrite, Side::kCpu, 0, 1},
          {kAssign, Side::kGpu, 0, 0, 70},
          {kResize, Side::kCpu, 0, 0, 3},
          {kResize, Side::kCpu, 0, 0, 11},
          {kRead},
          {kRead, Side::kGpu, 1},
          {kAdopt, Side::kCpu, 0, 0, 1},
          {kPrefetch, Side::kGpu, 1},
          {kReadWrite, Side::kGpu},
          {kAdopt, Side::kGpu, 1, 0, 2},
          {kResize, Side::kCpu, 0, 0, 2},
          {kRead},
          {kReadWrite, Side::kGpu}};
}

}  // namespace ferry::testing
