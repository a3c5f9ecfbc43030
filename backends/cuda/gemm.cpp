// SPDX-License-Identifier: BSD-2-Clause
// Gemm by cuBLAS.
#include "backends/gpu/gemm.hpp"

#include "backends/cuda/blas.hpp"
#include "ferry/detail/device_gemm.hpp"

namespace ferry::detail {

template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c) {
  gpu::Gemm<cuda::BlasNames>(on, transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
}

template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, float, const float*,
                         const float*, float, float*);
template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, double, const double*,
                         const double*, double, double*);

}  // namespace ferry::detail
