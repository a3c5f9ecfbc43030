// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"
#include "ferry/kernels.hpp"

namespace ferry {
namespace {

bool Untouched(const SyncedMemory* memory) {
  return memory == nullptr || memory->size() == 0 || memory->head() == SyncedMemory::UNINITIALIZED;
}

/// Where the bytes are.
Place Home(const SyncedMemory& memory) {
  Device& device = memory.device();
  return Holds(memory.head(), Side::kGpu) ? Place::On(Stream::Main(device)) : Place::Cpu(device);
}

template <class T>
double Sum(double (*kernel)(const Place&, std::int64_t, const T*), const SyncedMemory* memory,
           std::int64_t count) {
  if (Untouched(memory)) return 0;
  const Place place = Home(*memory);
  return kernel(place, count, place.Read<T>(*memory));
}

template <class T>
void ScaleIn(SyncedMemory* memory, std::int64_t count, T factor) {
  if (Untouched(memory)) return;
  const Place place = Home(*memory);
  Scale(place, count, factor, place.ReadWrite<T>(*memory));
}

}  // namespace

template <class T>
void Blob<T>::Update()
  requires Real<T>
{
  if (Untouched(diff_.get())) return;
  const Place place = Home(Untouched(data_.get()) ? *diff_ : *data_);
  const T* const diff = place.Read<T>(*diff_);
  Axpy(place, count_, T{-1}, diff, place.ReadWrite<T>(*data_));
}

template <class T>
double Blob<T>::asum_data() const
  requires Real<T>
{
  return Sum(Asum<T>, data_.get(), count_);
}
template <class T>
double Blob<T>::asum_diff() const
  requires Real<T>
{
  return Sum(Asum<T>, diff_.get(), count_);
}
template <class T>
double Blob<T>::sumsq_data() const
  requires Real<T>
{
  return Sum(Sumsq<T>, data_.get(), count_);
}
template <class T>
double Blob<T>::sumsq_diff() const
  requires Real<T>
{
  return Sum(Sumsq<T>, diff_.get(), count_);
}
template <class T>
void Blob<T>::scale_data(T factor)
  requires Real<T>
{
  ScaleIn(data_.get(), count_, factor);
}
template <class T>
void Blob<T>::scale_diff(T factor)
  requires Real<T>
{
  ScaleIn(diff_.get(), count_, factor);
}

#define FERRY_INSTANTIATE(T)                   \
  template void Blob<T>::Update();             \
  template double Blob<T>::asum_data() const;  \
  template double Blob<T>::asum_diff() const;  \
  template double Blob<T>::sumsq_data() const; \
  template double Blob<T>::sumsq_diff() const; \
  template void Blob<T>::scale_data(T factor); \
  template void Blob<T>::scale_diff(T factor)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
