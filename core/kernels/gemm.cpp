// SPDX-License-Identifier: BSD-2-Clause
#include <cblas.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "ferry/detail/device_gemm.hpp"
#include "ferry/detail/strided_gemm.hpp"
#include "ferry/error.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

IntGemmSizes CheckedSizes(const GemmSizes& sizes, const GemmStrides& strides) {
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

/// The rows of a matrix of rows x columns lie `next` elements behind one another; those of its transpose do
/// if it is the transpose that lies in memory.
void RequireSize(const char* name, const Part& part, Transpose transpose, const char* dims, std::int64_t rows,
                 std::int64_t columns, int next) {
  const bool as_is = transpose == Transpose::kNo;
  const std::int64_t lines = as_is ? rows : columns, line = as_is ? columns : rows;
  const std::int64_t needed = lines == 0 || line == 0 ? 0 : (lines - 1) * next + line;
  if (part.count == needed && next >= line) return;
  throw ShapeError(std::string("ferry::Gemm: ") + name + " (" + LabelOf(part) + ") has " +
                   std::to_string(part.count) + " elements; " + dims + " = " + std::to_string(rows) + " x " +
                   std::to_string(columns) + " needs " + std::to_string(needed));
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
void Gemm(const At& at, const GemmSizes& sizes, const GemmStrides& strides, T alpha,
          const Operand<const T>& a, const Operand<const T>& b, T beta, const Part& c) {
  const IntGemmSizes size = CheckedSizes(sizes, strides);
  const std::int64_t m = sizes.m, n = sizes.n, k = sizes.k;
  RequireSize("a", a.part(), sizes.transpose_a, "m x k", m, k, size.lda);
  RequireSize("b", b.part(), sizes.transpose_b, "k x n", k, n, size.ldb);
  RequireSize("c", c, Transpose::kNo, "m x n", m, n, size.ldc);
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
      return DeviceGemm(place.stream(), size, alpha, x, y, beta, z);
  }
  RunHostCode(
      place, [&] { return taken.Touches(); }, [=] { HostGemm(size, alpha, x, y, beta, z); });
}

template <Real T>
void Gemm(const At& at, const GemmSizes& sizes, T alpha, const Operand<const T>& a, const Operand<const T>& b,
          T beta, const Part& c) {
  const auto [transpose_a, transpose_b, m, n, k] = sizes;
  const GemmStrides strides{transpose_a == Transpose::kNo ? k : m, transpose_b == Transpose::kNo ? n : k, n};
  Gemm(at, sizes, strides, alpha, a, b, beta, c);
}

#define FERRY_INSTANTIATE(T)                                                                              \
  template void Gemm(const At&, const GemmSizes&, const GemmStrides&, T, const Operand<const T>&,         \
                     const Operand<const T>&, T, const Part&);                                            \
  template void Gemm(const At&, const GemmSizes&, T, const Operand<const T>&, const Operand<const T>&, T, \
                     const Part&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
