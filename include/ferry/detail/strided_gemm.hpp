// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kernels.hpp"

namespace ferry::detail {

/// From one row of a matrix, as it lies in memory, to the next.
struct GemmStrides {
  std::int64_t a, b, c;
};

/// Gemm of matrices with gaps between their rows. A part ends with the last row.
template <Real T>
void Gemm(const At& at, const GemmSizes& sizes, const GemmStrides& strides, T alpha,
          const Operand<const T>& a, const Operand<const T>& b, T beta, const Part& c);

}  // namespace ferry::detail
