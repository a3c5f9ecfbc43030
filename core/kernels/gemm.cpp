// SPDX-License-Identifier: BSD-2-Clause
#include <cblas.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "ferry/detail/blas_kernels.hpp"
#include "ferry/detail/kokkos/series.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

template <class T>
void HostGemm(const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c) {
  constexpr auto gemm = [] {
    if constexpr (std::is_same_v<T, float>)
      return &cblas_sgemm;
    else
      return &cblas_dgemm;
  }();
  const auto cblas = [](Transpose t) { return t == Transpose::kNo ? CblasNoTrans : CblasTrans; };
  gemm(CblasRowMajor, cblas(sizes.transpose_a), cblas(sizes.transpose_b), sizes.m, sizes.n, sizes.k, alpha, a,
       sizes.lda, b, sizes.ldb, beta, c, sizes.ldc);
}

void RequireSize(const char* name, const Part& part, const char* dims, std::int64_t rows,
                 std::int64_t columns) {
  if (part.count == rows * columns) return;
  throw ShapeError(std::string("ferry::Gemm: ") + name + " (" + LabelOf(part) + ") has " +
                   std::to_string(part.count) + " elements; " + dims + " = " + std::to_string(rows) + " x " +
                   std::to_string(columns) + " needs " + std::to_string(rows * columns));
}

/// Partial overlaps are refused with the operands.
void RequireApart(const char* name, const Part& a, const Part& c) {
  if (a.memory != c.memory || a.range.bytes == 0 || a.range.first != c.range.first) return;
  throw std::invalid_argument(std::string("ferry::Gemm: c (") + LabelOf(c) + ") of " +
                              std::to_string(c.count) + " elements begins where " + name + " of " +
                              std::to_string(a.count) +
                              " does, and is written while that is read; give it elements of its own");
}

/// An element of C = beta * C, which is left where there are no products.
template <class T>
struct ScaleElement {
  std::int64_t n, next;
  T beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* c) const {
    T& element = c[i / n * next + i % n];
    element = beta == 0 ? T(0) : beta * element;
  }
};

}  // namespace

void WarnOfOldBlasKernels(const Place& place) {
  static std::atomic_flag asked;
  if (asked.test(std::memory_order_relaxed)) return;
  if (place.side() == Side::kGpu && OnDeviceSpace(place.device().properties())) return;
  if (asked.test_and_set()) return;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a program that sets it meanwhile does so too late for OpenBLAS
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  const std::string advice = BlasAdvice(openblas_get_corename(), BestBlasKernels());
  if (!advice.empty()) Log(LogLevel::kWarning, advice);
}

IntGemmSizes IntGemmSizesOf(const GemmSizes& sizes, const GemmStrides& strides) {
  const auto [transpose_a, transpose_b, m, n, k] = sizes;
  const auto text = [&] {
    return "ferry::Gemm: m, n, k = " + std::to_string(sizes.m) + ", " + std::to_string(sizes.n) + ", " +
           std::to_string(sizes.k);
  };
  if (m < 0 || n < 0 || k < 0) throw std::invalid_argument(text() + "; each must be 0 or more");
  if (std::max({m, n, k, strides.a, strides.b, strides.c}) > std::numeric_limits<int>::max())
    throw ShapeError(text() + "; each must be 2147483647 at most, for BLAS counts in int");
  const auto in_int = [](std::int64_t number) { return static_cast<int>(number); };
  return {transpose_a, transpose_b,       in_int(m),         in_int(n),
          in_int(k),   in_int(strides.a), in_int(strides.b), in_int(strides.c)};
}

template <Real T>
void Series::Gemm(const IntGemmSizes& sizes, T alpha, const T* a, const T* b, T beta, T* c) const {
  if (sizes.m == 0 || sizes.n == 0) return;
  if (sizes.k == 0 && beta == 1) return;
  if (sizes.k == 0) return For(std::int64_t{sizes.m} * sizes.n, ScaleElement<T>{sizes.n, sizes.ldc, beta}, c);
  if constexpr (kHasDeviceSpace)
    if (on_ != nullptr) return DeviceGemm(*on_, sizes, alpha, a, b, beta, c);
  HostGemm(sizes, alpha, a, b, beta, c);
}

template <Real T>
void Gemm(const At& at, const GemmSizes& sizes, T alpha, const Operand<const T>& a, const Operand<const T>& b,
          T beta, const Part& c) {
  const auto [transpose_a, transpose_b, m, n, k] = sizes;
  const IntGemmSizes size = IntGemmSizesOf(
      sizes, {transpose_a == Transpose::kNo ? k : m, transpose_b == Transpose::kNo ? n : k, n});
  RequireSize("a", a.part(), "m x k", m, k);
  RequireSize("b", b.part(), "k x n", k, n);
  RequireSize("c", c, "m x n", m, n);
  if (m == 0 || n == 0) return;
  RequireApart("a", a.part(), c);
  RequireApart("b", b.part(), c);
  WarnOfOldBlasKernels(at.place());
  RunSeries(
      at,
      [=](const Series& series, const T* x, const T* y, T* z) { series.Gemm(size, alpha, x, y, beta, z); }, a,
      b, Operand<T>(c, beta == 0 ? Access::kOverwrite : Access::kReadWrite));
}

#define FERRY_INSTANTIATE(T)                                                                              \
  template void Series::Gemm(const IntGemmSizes&, T, const T*, const T*, T, T*) const;                    \
  template void Gemm(const At&, const GemmSizes&, T, const Operand<const T>&, const Operand<const T>&, T, \
                     const Part&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
