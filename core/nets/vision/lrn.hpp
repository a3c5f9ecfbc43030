// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/kernels.hpp"

namespace ferry::detail {

/// What local response normalisation across channels works on: images of channels of pixels.
struct LrnSizes {
  std::int64_t images, channels, pixels;
  std::int64_t window;  ///< odd
};

template <Real T>
struct LrnFactors {
  T alpha, beta, k;
};

/// scale = k + alpha / window * the sum of squares over the window; y = x * scale^-beta.
template <Real T>
void LrnAcross(const At& at, const LrnSizes& sizes, const LrnFactors<T>& factors, const Operand<const T>& x,
               const Operand<T>& scale, const Operand<T>& y);
template <Real T>
void LrnAcrossGradient(const At& at, const LrnSizes& sizes, const LrnFactors<T>& factors,
                       const Operand<const T>& x, const Operand<const T>& scale, const Operand<const T>& y,
                       const Operand<const T>& dy, const Operand<T>& dx);

/// y = x * (1 + alpha * mean)^-beta, where `mean` is that of the squares around an element.
template <Real T>
void LrnWithin(const At& at, const LrnFactors<T>& factors, const Operand<const T>& x,
               const Operand<const T>& mean, const Operand<T>& y);
/// The gradient of `mean`.
template <Real T>
void LrnMeanGradient(const At& at, const LrnFactors<T>& factors, const Operand<const T>& x,
                     const Operand<const T>& mean, const Operand<const T>& dy, const Operand<T>& dmean);
/// dx, where `dsquares` is the gradient of the squares.
template <Real T>
void LrnWithinGradient(const At& at, const LrnFactors<T>& factors, const Operand<const T>& x,
                       const Operand<const T>& mean, const Operand<const T>& dsquares,
                       const Operand<const T>& dy, const Operand<T>& dx);

}  // namespace ferry::detail
