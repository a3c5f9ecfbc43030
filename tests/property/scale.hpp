// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "tests/sanitized.hpp"

namespace ferry::testing {

inline constexpr double kUsualScale = kSanitized ? 0.01 : 0.1;

/// How much of the property tests is run; 1 is all of it. The environment variable FERRY_TEST_SCALE says
/// otherwise than usual. CI asks for 0.2: every fifth sequence. Each one that is an access shorter than the
/// longest is the beginning of some that run, and is checked as far as each access is; that its copies are
/// the fewest is checked where it runs itself.
inline double Scale() {
  const char* const said = std::getenv("FERRY_TEST_SCALE");
  return said != nullptr ? std::atof(said) : kUsualScale;
}

/// How far apart the sequences are that are run, out of all that are numbered by digits of `base`: 1 where
/// all are. It has no factor in common with the base, so that each digit takes every value.
inline std::uint64_t Stride(std::uint64_t base) {
  auto stride = static_cast<std::uint64_t>(1 / std::min(1.0, Scale()));
  while (std::gcd(stride, base) != 1) ++stride;
  return stride;
}

}  // namespace ferry::testing
