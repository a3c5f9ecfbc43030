// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "ferry/operand.hpp"
#include "ferry/place.hpp"

namespace ferry {

/// The element types that the mathematics is for.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Whether a factor of a product is transposed.
enum class Transpose : std::uint8_t { kNo, kYes };

namespace detail {

/// What a scalar of a call with X becomes.
template <class X>
using Scalar = std::remove_const_t<ElementOf<X>>;

template <class X, class... Others>
constexpr bool AreArrays() {
  constexpr bool are = ArrayLike<X> && (ArrayLike<Others> && ...);
  static_assert(
      are, "ferry: a kernel takes an Array, a Blob or Diff(blob); a pointer does not say where it is valid");
  constexpr bool alike = (std::same_as<Scalar<X>, Scalar<Others>> && ...);
  static_assert(!are || alike, "ferry: the arrays of one kernel have elements of one type");
  return are && alike;
}
template <class... X>
constexpr bool AreNumbers() {
  constexpr bool numbers =
      (std::is_arithmetic_v<Scalar<X>> && ...) && (!std::same_as<Scalar<X>, long double> && ...);
  static_assert(numbers || !(ArrayLike<X> && ...),
                "ferry: Set is for numbers, long double apart, which no GPU has");
  return AreArrays<X...>() && numbers;
}
template <class... X>
constexpr bool AreReal() {
  constexpr bool real = (Real<Scalar<X>> && ...);
  static_assert(real || !(ArrayLike<X> && ...), "ferry: this kernel is for float and double");
  return AreArrays<X...>() && real;
}
template <class X>
constexpr bool IsWritten() {
  static_assert(!std::is_const_v<ElementOf<X>>, "ferry: the kernel writes this array, and it is const");
  return !std::is_const_v<ElementOf<X>>;
}

// The kernels, of operands.
template <class T>
void Set(const At& at, T value, const Operand<T>& x);
void CopyBytes(const At& at, const Operand<const std::byte>& x, const Operand<std::byte>& y);
template <Real T>
void Scale(const At& at, T alpha, const Operand<T>& x);
template <Real T>
void Axpy(const At& at, T alpha, const Operand<const T>& x, const Operand<T>& y);
template <Real T>
void Axpby(const At& at, T alpha, const Operand<const T>& x, T beta, const Operand<T>& y);
template <Real T>
double Asum(const At& at, const Operand<const T>& x);
template <Real T>
double Sumsq(const At& at, const Operand<const T>& x);
template <Real T>
double Dot(const At& at, const Operand<const T>& x, const Operand<const T>& y);
struct GemmSizes {
  Transpose transpose_a, transpose_b;
  std::int64_t m, n, k;
};
template <Real T>
void Gemm(const At& at, const GemmSizes& sizes, T alpha, const Operand<const T>& a, const Operand<const T>& b,
          T beta, const Part& c);

}  // namespace detail

/// @name Kernels
/// x and y are each an Array, a Blob (its data) or Diff(blob), temporaries such as slices included. They have
/// elements of one type, to which scalars convert, and are identical or disjoint. Memory ferries itself to
/// where the kernel runs: to the place, or, where the Kokkos at hand has no kernels for its device, to the
/// CPU, with one warning a process. Kernels that return nothing may be queued; those that return a number
/// wait for it. All throw what SyncedMemory's accesses throw. Before any byte has moved they throw
/// ShapeError, with labels and counts, where counts differ, and std::invalid_argument where x and y overlap
/// in part. Where a call has its operands and the device then refuses its work, DeviceError, the elements
/// that it would have overwritten are lost. Any thread may call.
///@{

/// x[i] = value. For numbers of every type except long double, which no GPU has.
template <class X>
void Set(const At& at, detail::Scalar<X> value, X&& x) {
  if constexpr (detail::AreNumbers<X>() && detail::IsWritten<X>()) detail::Set(at, value, Overwrite(x));
}

/// y[i] = x[i]. For every element type; on a stream by the device's own copy, or by the host where a unified
/// device uses bytes of the host that are the caller's or another device's.
template <class X, class Y>
void Copy(const At& at, X&& x, Y&& y) {
  if constexpr (detail::AreArrays<X, Y>() && detail::IsWritten<Y>()) {
    detail::RequireSameCount("Copy", {"x", detail::MakePart(x)}, {"y", detail::MakePart(y)});
    detail::CopyBytes(at, detail::BytesOf(Read(x)), detail::BytesOf(Overwrite(y)));
  }
}

/// x[i] *= alpha
template <class X>
void Scale(const At& at, detail::Scalar<X> alpha, X&& x) {
  if constexpr (detail::AreReal<X>() && detail::IsWritten<X>()) detail::Scale(at, alpha, ReadWrite(x));
}

/// y[i] += alpha * x[i]
template <class X, class Y>
void Axpy(const At& at, detail::Scalar<Y> alpha, X&& x, Y&& y) {
  if constexpr (detail::AreReal<X, Y>() && detail::IsWritten<Y>())
    detail::Axpy(at, alpha, Read(x), ReadWrite(y));
}

/// y[i] = alpha * x[i] + beta * y[i]
template <class X, class Y>
void Axpby(const At& at, detail::Scalar<Y> alpha, X&& x, detail::Scalar<Y> beta, Y&& y) {
  if constexpr (detail::AreReal<X, Y>() && detail::IsWritten<Y>())
    detail::Axpby(at, alpha, Read(x), beta, ReadWrite(y));
}

/// The sum of |x[i]|, with a float64 total, as all sums here have. On a host, the error of a sum of floats is
/// at most 1.8e-7 times the sum of the terms' magnitudes, unless denormal numbers count as zero or the
/// program has chosen another way to round. In one mode of the floating point unit a sum has the same bits on
/// every call with one kind of place, and on every host.
template <class X>
double Asum(const At& at, X&& x) {
  if constexpr (detail::AreReal<X>())
    return detail::Asum(at, Read(x));
  else
    return 0;
}

/// The sum of x[i]^2; otherwise as Asum.
template <class X>
double Sumsq(const At& at, X&& x) {
  if constexpr (detail::AreReal<X>())
    return detail::Sumsq(at, Read(x));
  else
    return 0;
}

/// The sum of x[i] * y[i]; otherwise as Asum.
template <class X, class Y>
double Dot(const At& at, X&& x, Y&& y) {
  if constexpr (detail::AreReal<X, Y>())
    return detail::Dot(at, Read(x), Read(y));
  else
    return 0;
}

/// C = alpha * op(A) * op(B) + beta * C, row-major without gaps, as Caffe's caffe_cpu_gemm: op(A) is m x k,
/// op(B) is k x n, C is m x n, and a, b and c have exactly as many elements. With beta == 0, C is not read. C
/// must not overlap A or B. Throws ShapeError also for more than 2^31 - 1 rows or columns, the most that BLAS
/// can count, and std::invalid_argument for a negative m, n or k, and where C overlaps A or B.
template <class A, class B, class C>
void Gemm(const At& at, Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, detail::Scalar<C> alpha, A&& a, B&& b, detail::Scalar<C> beta, C&& c) {
  if constexpr (detail::AreReal<A, B, C>() && detail::IsWritten<C>())
    detail::Gemm(at, {transpose_a, transpose_b, m, n, k}, alpha, Read(a), Read(b), beta, detail::MakePart(c));
}
///@}

}  // namespace ferry
