// SPDX-License-Identifier: BSD-2-Clause
// Gemm by cuBLAS.
#include "backends/gpu/gemm.hpp"

#include "backends/cuda/blas.hpp"
#include "ferry/detail/device_gemm.hpp"

namespace ferry::detail {

template <Real T>
void DeviceGemm(const Stream& on, const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c) {
  gpu::Gemm<cuda::BlasNames>(on, sizes, alpha, a, b, beta, c);
}

template void DeviceGemm(const Stream&, const IntGemmSizes&, float, const float*, const float*, float,
                         float*);
template void DeviceGemm(const Stream&, const IntGemmSizes&, double, const double*, const double*, double,
                         double*);

}  // namespace ferry::detail
