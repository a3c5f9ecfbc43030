// SPDX-License-Identifier: BSD-2-Clause
#include <cstring>
#include <type_traits>

#include "ferry/detail/operands.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

namespace ferry {
namespace {

template <class T>
struct SetTo {
  T value;
  T* x;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const { x[i] = value; }
};

template <class T>
struct ScaleBy {
  T alpha;
  T* x;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const { x[i] *= alpha; }
};

template <class T>
struct AddScaled {
  T alpha;
  const T* x;
  T* y;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const { y[i] += alpha * x[i]; }
};

template <class T>
struct AddBothScaled {
  T alpha;
  const T* x;
  T beta;
  T* y;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const { y[i] = alpha * x[i] + beta * y[i]; }
};

}  // namespace

template <class T>
void Set(const Place& place, std::int64_t n, T value, T* x) {
  detail::Loop("Set", place, n, {{x, n}}, SetTo<T>{value, x});
}

template <class T>
void Copy(const Place& place, std::int64_t n, const T* x, T* y) {
  detail::RequireOperands("Copy", n, {{x, n}, {y, n}});
  if (n == 0 || x == y) return;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (place.side() == Side::kCpu)
    std::memcpy(y, x, bytes);
  else  // has engines for it, which no kernel beats
    place.stream().device().Copy(CopyKind::kDeviceToDevice, y, x, bytes, place.stream().handle());
}

template <Real T>
void Scale(const Place& place, std::int64_t n, T alpha, T* x) {
  detail::Loop("Scale", place, n, {{x, n}}, ScaleBy<T>{alpha, x});
}

template <Real T>
void Axpy(const Place& place, std::int64_t n, T alpha, const T* x, T* y) {
  detail::Loop("Axpy", place, n, {{x, n}, {y, n}}, AddScaled<T>{alpha, x, y});
}

template <Real T>
void Axpby(const Place& place, std::int64_t n, T alpha, const T* x, T beta, T* y) {
  detail::Loop("Axpby", place, n, {{x, n}, {y, n}}, AddBothScaled<T>{alpha, x, beta, y});
}

#define FERRY_INSTANTIATE(T)                            \
  template void Set(const Place&, std::int64_t, T, T*); \
  template void Copy(const Place&, std::int64_t, const T*, T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
FERRY_INSTANTIATE(bool);
FERRY_INSTANTIATE(char);
FERRY_INSTANTIATE(wchar_t);
FERRY_INSTANTIATE(char8_t);
FERRY_INSTANTIATE(char16_t);
FERRY_INSTANTIATE(char32_t);
FERRY_INSTANTIATE(signed char);
FERRY_INSTANTIATE(short);
FERRY_INSTANTIATE(int);
FERRY_INSTANTIATE(long);
FERRY_INSTANTIATE(long long);
FERRY_INSTANTIATE(unsigned char);
FERRY_INSTANTIATE(unsigned short);
FERRY_INSTANTIATE(unsigned int);
FERRY_INSTANTIATE(unsigned long);
FERRY_INSTANTIATE(unsigned long long);
#undef FERRY_INSTANTIATE

#define FERRY_INSTANTIATE(T)                                       \
  template void Scale(const Place&, std::int64_t, T, T*);          \
  template void Axpy(const Place&, std::int64_t, T, const T*, T*); \
  template void Axpby(const Place&, std::int64_t, T, const T*, T, T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
