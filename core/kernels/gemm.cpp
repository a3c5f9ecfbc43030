// SPDX-License-Identifier: BSD-2-Clause
#include <cblas.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "ferry/detail/device_gemm.hpp"
#include "ferry/error.hpp"
#include "ferry/kokkos.hpp"

namespace ferry {
namespace {

/// BLAS counts in int; so do the vendors' libraries.
struct Sizes {
  int m, n, k;
};

Sizes CheckedSizes(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::string sizes =
      "ferry::Gemm: m, n, k = " + std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(k);
  if (m < 0 || n < 0 || k < 0) throw std::invalid_argument(sizes + "; each must be 0 or more");
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (m > kMost || n > kMost || k > kMost)
    throw ShapeError(sizes + "; each must be 2147483647 at most, for BLAS counts in int");
  return {static_cast<int>(m), static_cast<int>(n), static_cast<int>(k)};
}

template <class T>
void HostGemm(CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, Sizes size, T alpha, const T* a,
              const T* b, T beta, T* c) {
  const int lda = transpose_a == CblasNoTrans ? size.k : size.m;
  const int ldb = transpose_b == CblasNoTrans ? size.n : size.k;
  constexpr auto gemm = [] {
    if constexpr (std::is_same_v<T, float>)
      return &cblas_sgemm;
    else
      return &cblas_dgemm;
  }();
  gemm(CblasRowMajor, transpose_a, transpose_b, size.m, size.n, size.k, alpha, a, lda, b, ldb, beta, c,
       size.n);
}

/// All that is left of C = ... + beta * C without a product.
template <class T>
void ScaleOrClear(const Place& place, std::int64_t n, T beta, T* c) {
  if (beta == 0)
    Set(place, n, T{0}, c);
  else
    Scale(place, n, beta, c);
}

}  // namespace

template <Real T>
void Gemm(const Place& place, Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, T alpha, const T* a, const T* b, T beta, T* c) {
  const Sizes size = CheckedSizes(m, n, k);
  if (m == 0 || n == 0) return;
  detail::RequirePointers("Gemm", {{a, m * k}, {b, k * n}, {c, m * n}});
  if (k == 0) return ScaleOrClear(place, m * n, beta, c);
  if constexpr (detail::kHasDeviceSpace) {
    const Stream& on = place.stream();
    if (place.side() == Side::kGpu && detail::OnDeviceSpace(on.device().properties()))
      return detail::DeviceGemm(on, transpose_a, transpose_b, size.m, size.n, size.k, alpha, a, b, beta, c);
  }
  const auto cblas = [](Transpose t) { return t == Transpose::kNo ? CblasNoTrans : CblasTrans; };
  detail::RunHostCode(place, {{a, m * k}, {b, k * n}, {c, m * n}},
                      [=, op_a = cblas(transpose_a), op_b = cblas(transpose_b)] {
                        HostGemm(op_a, op_b, size, alpha, a, b, beta, c);
                      });
}

#define FERRY_INSTANTIATE(T)                                                                          \
  template void Gemm(const Place&, Transpose, Transpose, std::int64_t, std::int64_t, std::int64_t, T, \
                     const T*, const T*, T, T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
