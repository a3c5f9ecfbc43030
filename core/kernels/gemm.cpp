// SPDX-License-Identifier: BSD-2-Clause
#include <cblas.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "ferry/detail/device_gemm.hpp"
#include "ferry/error.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {

/// BLAS counts in int; so do the vendors' libraries.
struct IntSizes {
  int m, n, k;
};

namespace {

IntSizes CheckedSizes(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::string sizes =
      "ferry::Gemm: m, n, k = " + std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(k);
  if (m < 0 || n < 0 || k < 0) throw std::invalid_argument(sizes + "; each must be 0 or more");
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (m > kMost || n > kMost || k > kMost)
    throw ShapeError(sizes + "; each must be 2147483647 at most, for BLAS counts in int");
  return {static_cast<int>(m), static_cast<int>(n), static_cast<int>(k)};
}

template <class T>
void HostGemm(CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, IntSizes size, T alpha, const T* a,
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

/// All that is left of C = ... + beta * C without a product.
template <class T>
void ScaleOrClear(const At& at, T beta, const Part& c) {
  if (beta == 0)
    detail::Set(at, T{0}, Operand<T>(c, Access::kOverwrite));
  else
    detail::Scale(at, beta, Operand<T>(c, Access::kReadWrite));
}

}  // namespace

template <Real T>
void Gemm(const At& at, const GemmSizes& sizes, T alpha, const Operand<const T>& a, const Operand<const T>& b,
          T beta, const Part& c) {
  const auto [transpose_a, transpose_b, m, n, k] = sizes;
  const IntSizes size = CheckedSizes(m, n, k);
  RequireSize("a", a.part(), "m x k", m, k);
  RequireSize("b", b.part(), "k x n", k, n);
  RequireSize("c", c, "m x n", m, n);
  if (m == 0 || n == 0) return;
  if (k == 0) return ScaleOrClear(at, beta, c);
  const Operand<T> out(c, beta == 0 ? Access::kOverwrite : Access::kReadWrite);
  RequireApart("a", a.part(), c);
  RequireApart("b", b.part(), c);
  const Taken<Operand<const T>, Operand<const T>, Operand<T>> taken(at, a, b, out);
  const Place& place = taken.place();
  const T *const x = taken.template get<0>(), *const y = taken.template get<1>();
  T* const z = taken.template get<2>();
  if constexpr (kHasDeviceSpace) {
    if (place.side() == Side::kGpu && OnDeviceSpace(place.device().properties()))
      return DeviceGemm(place.stream(), transpose_a, transpose_b, size.m, size.n, size.k, alpha, x, y, beta,
                        z);
  }
  const auto cblas = [](Transpose t) { return t == Transpose::kNo ? CblasNoTrans : CblasTrans; };
  RunHostCode(
      place, [&] { return taken.Touches(); },
      [=, op_a = cblas(transpose_a), op_b = cblas(transpose_b)] {
        HostGemm(op_a, op_b, size, alpha, x, y, beta, z);
      });
}

#define FERRY_INSTANTIATE(T)                                                                              \
  template void Gemm(const At&, const GemmSizes&, T, const Operand<const T>&, const Operand<const T>&, T, \
                     const Part&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
