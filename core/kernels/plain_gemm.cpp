// SPDX-License-Identifier: BSD-2-Clause
// In a build whose backend has kernels and no BLAS.
#include "core/kernels/plain_gemm.hpp"

#include <type_traits>

#include "ferry/detail/device_gemm.hpp"

namespace ferry::detail {

template <Real T>
void DeviceGemm(const Stream& on, Transpose transpose_a, Transpose transpose_b, int m, int n, int k, T alpha,
                const T* a, const T* b, T beta, T* c) {
  const Extents<1> elements = ExtentsOf("Gemm", std::int64_t{m} * n);
  const BoundTo<1, PlainGemm<T>, Operand<const T>, Operand<const T>, Operand<T>> functor(
      {transpose_a, transpose_b, m, n, k, alpha, beta}, a, b, c);
  RunOnDeviceSpace(Place(on), LoopOn<std::remove_const_t<decltype(functor)>, 1>{elements, functor});
}

template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, float, const float*,
                         const float*, float, float*);
template void DeviceGemm(const Stream&, Transpose, Transpose, int, int, int, double, const double*,
                         const double*, double, double*);

}  // namespace ferry::detail
