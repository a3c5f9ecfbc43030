// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"
#include "ferry/kernels.hpp"

namespace ferry {
namespace {

using detail::Part;

bool Untouched(const Part& part) {
  return part.count == 0 || part.memory->head(part.range) == SyncedMemory::UNINITIALIZED;
}

/// Where it was asked for, or else where the bytes are.
Place PlaceFor(const Part& part, const Stream* on) {
  if (on != nullptr) return Place(*on);
  Device& device = part.memory->device();
  return Holds(part.memory->head(part.range), Side::kGpu) ? Place(device) : Place::Cpu(device);
}

template <class T>
void UpdateOn(const Part& data, const Part& diff, const OnStream& on) {
  if (Untouched(diff)) return;
  detail::Axpy({PlaceFor(Untouched(data) ? diff : data, on.get()), on.site()}, T{-1},
               Operand<const T>(diff, Access::kRead), Operand<T>(data, Access::kReadWrite));
}
template <class T, class Sum>
double SumOn(const Part& part, const OnStream& on, Sum sum) {
  return Untouched(part) ? 0
                         : sum({PlaceFor(part, on.get()), on.site()}, Operand<const T>(part, Access::kRead));
}
template <class T>
void ScaleOn(const Part& part, const OnStream& on, T factor) {
  if (!Untouched(part))
    detail::Scale({PlaceFor(part, on.get()), on.site()}, factor, Operand<T>(part, Access::kReadWrite));
}

}  // namespace

template <class T>
void Blob<T>::Update(OnStream on)
  requires Real<T>
{
  UpdateOn<T>(part(BlobPart::kData), part(BlobPart::kDiff), on);
}

template <class T>
double Blob<T>::asum_data(OnStream on) const
  requires Real<T>
{
  return SumOn<T>(part(BlobPart::kData), on, detail::Asum<T>);
}
template <class T>
double Blob<T>::asum_diff(OnStream on) const
  requires Real<T>
{
  return SumOn<T>(part(BlobPart::kDiff), on, detail::Asum<T>);
}
template <class T>
double Blob<T>::sumsq_data(OnStream on) const
  requires Real<T>
{
  return SumOn<T>(part(BlobPart::kData), on, detail::Sumsq<T>);
}
template <class T>
double Blob<T>::sumsq_diff(OnStream on) const
  requires Real<T>
{
  return SumOn<T>(part(BlobPart::kDiff), on, detail::Sumsq<T>);
}
template <class T>
void Blob<T>::scale_data(T factor, OnStream on)
  requires Real<T>
{
  ScaleOn<T>(part(BlobPart::kData), on, factor);
}
template <class T>
void Blob<T>::scale_diff(T factor, OnStream on)
  requires Real<T>
{
  ScaleOn<T>(part(BlobPart::kDiff), on, factor);
}

#define FERRY_INSTANTIATE(T)                           \
  template void Blob<T>::Update(OnStream);             \
  template double Blob<T>::asum_data(OnStream) const;  \
  template double Blob<T>::asum_diff(OnStream) const;  \
  template double Blob<T>::sumsq_data(OnStream) const; \
  template double Blob<T>::sumsq_diff(OnStream) const; \
  template void Blob<T>::scale_data(T, OnStream);      \
  template void Blob<T>::scale_diff(T, OnStream)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
