// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/kernels.hpp"

namespace ferry::detail {

/// The vendor's BLAS behind Gemm, for devices whose kernels are DeviceSpace's; m, n and k are not 0 and fit
/// an int. A build for such a backend defines it for float and double.
template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c);

}  // namespace ferry::detail
