// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>

namespace ferry::testing {

/// The larger one of two differences. What is no number is larger than all numbers: std::max and comparisons
/// pass it over, and so would a test of the largest difference.
template <class T>
T Worse(T a, T b) {
  return std::isnan(a) || a >= b ? a : b;
}

}  // namespace ferry::testing
