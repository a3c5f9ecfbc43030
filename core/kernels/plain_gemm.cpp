// SPDX-License-Identifier: BSD-2-Clause
// In a build whose backend has kernels and no BLAS.
#include "core/kernels/plain_gemm.hpp"

#include "ferry/detail/device_gemm.hpp"

namespace ferry::detail {

template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c) {
  ParallelFor(Place::On(on), std::int64_t{m} * n,
              {{a, std::int64_t{m} * k}, {b, std::int64_t{k} * n}, {c, std::int64_t{m} * n}},
              PlainGemm<T>{transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c});
}

template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, float, const float*,
                         const float*, float, float*);
template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, double, const double*,
                         const double*, double, double*);

}  // namespace ferry::detail
