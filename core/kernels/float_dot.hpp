// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/detail/instruction_set.hpp"

namespace ferry::detail {

/// The sum of x[i] * y[i] for i from 0 to n - 1, by the instructions of `set`, which the processor must have.
/// In double, where a product of floats is exact: 32 lanes, in each of which every 32nd product is added, and
/// then the lanes pairwise. So the bits are the same for every set, and the error is at most
/// (n / 32 + 6) * 2^-53 times the sum of |x[i] * y[i]|.
double SumOfProducts(std::int64_t n, const float* x, const float* y,
                     InstructionSet set = BestInstructionSet()) noexcept;

}  // namespace ferry::detail
