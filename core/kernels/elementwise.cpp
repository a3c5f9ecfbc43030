// SPDX-License-Identifier: BSD-2-Clause
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/kernels/packs.hpp"
#include "core/memory/told_call.hpp"
#include "ferry/kernels.hpp"
#include "ferry/kokkos.hpp"

namespace ferry::detail {
namespace {

template <class T>
struct SetTo {
  T value;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* x) const { x[i] = value; }
};

template <class T>
struct ScaleBy {
  T alpha;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, T* x) const { x[i] *= alpha; }
};

template <class T>
struct AddScaled {
  T alpha;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const T* x, T* y) const {
    y[i] += alpha * x[i];
  }
};

template <class T>
struct AddBothScaled {
  T alpha, beta;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, const T* x, T* y) const {
    y[i] = alpha * x[i] + beta * y[i];
  }
};

/// ParallelFor, on a GPU in packs.
template <class Body, class... Operands>
void ForElements(const char* call, const At& at, const Body& body, std::int64_t n,
                 const Operands&... operands) {
  const auto extents = ExtentsOf(call, n);
  WithOperands(call, at, extents, body, RunLoop<1, InPacks>{extents}, operands...);
}

}  // namespace

template <class T>
void Set(const At& at, T value, const Operand<T>& x) {
  ForElements("Set", at, SetTo<T>{value}, x.count(), x);
}

void CopyBytes(const At& at, const Operand<const std::byte>& x, const Operand<std::byte>& y) {
  if (x.count() == 0) return;
  const Request requests[] = {x.request(), y.request()};
  const auto& [from, to] = requests;
  const Place& place = at.place();
  const bool onto_itself = from.memory == to.memory && from.range.first == to.range.first;
  if (place.side() == Side::kGpu && !onto_itself)  // has engines for it, which no kernel beats
    return to.memory->Assign(to.range, *from.memory, from.range.first, &place.stream(), at.site());
  void* ptrs[2];
  ToldCall told(ToldCall::Kind::kCopy, place.side() == Side::kCpu ? nullptr : &place.stream(), requests,
                at.site());
  TakeAt(at, requests, ptrs);
  told.Start();
  if (ptrs[0] != ptrs[1]) std::memcpy(ptrs[1], ptrs[0], static_cast<std::size_t>(x.count()));
}

template <Real T>
void Scale(const At& at, T alpha, const Operand<T>& x) {
  ForElements("Scale", at, ScaleBy<T>{alpha}, x.count(), x);
}

template <Real T>
void Axpy(const At& at, T alpha, const Operand<const T>& x, const Operand<T>& y) {
  RequireSameCount("Axpy", {"x", x.part()}, {"y", y.part()});
  ForElements("Axpy", at, AddScaled<T>{alpha}, x.count(), x, y);
}

template <Real T>
void Axpby(const At& at, T alpha, const Operand<const T>& x, T beta, const Operand<T>& y) {
  RequireSameCount("Axpby", {"x", x.part()}, {"y", y.part()});
  ForElements("Axpby", at, AddBothScaled<T>{alpha, beta}, x.count(), x, y);
}

#define FERRY_INSTANTIATE(T) template void Set(const At&, T, const Operand<T>&)
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

#define FERRY_INSTANTIATE(T)                                                    \
  template void Scale(const At&, T, const Operand<T>&);                         \
  template void Axpy(const At&, T, const Operand<const T>&, const Operand<T>&); \
  template void Axpby(const At&, T, const Operand<const T>&, T, const Operand<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
