// SPDX-License-Identifier: BSD-2-Clause
// In a build whose backend has kernels and no BLAS.
#include "core/kernels/plain_gemm.hpp"

#include <type_traits>

#include "ferry/detail/device_gemm.hpp"

namespace ferry::detail {

template <Real T>
void DeviceGemm(const Stream& on, const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c) {
  const Extents<1> elements = ExtentsOf("Gemm", std::int64_t{sizes.m} * sizes.n);
  const BoundTo<1, PlainGemm<T>, Operand<const T>, Operand<const T>, Operand<T>> functor({sizes, alpha, beta},
                                                                                         a, b, c);
  RunOnDeviceSpace(Place(on), LoopOn<std::remove_const_t<decltype(functor)>, 1>{elements, functor});
}

template void DeviceGemm(const Stream&, const IntGemmSizes&, float, const float*, const float*, float,
                         float*);
template void DeviceGemm(const Stream&, const IntGemmSizes&, double, const double*, const double*, double,
                         double*);

}  // namespace ferry::detail
