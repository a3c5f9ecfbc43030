// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"
#include "ferry/kernels.hpp"

namespace ferry {
namespace {

bool Untouched(const std::shared_ptr<SyncedMemory>& memory) {
  return memory == nullptr || memory->size() == 0 || memory->head() == SyncedMemory::UNINITIALIZED;
}

/// Where the bytes are. Both sides count as the GPU.
Place Home(const SyncedMemory& memory) {
  Device& device = memory.device();
  return Holds(memory.head(), Side::kGpu) ? Place::On(Stream::Main(device)) : Place::Cpu(device);
}

template <Real T>
double Sum(double (*kernel)(const Place&, std::int64_t, const T*),
           const std::shared_ptr<SyncedMemory>& memory, std::int64_t count) {
  if (Untouched(memory)) return 0;
  const Place place = Home(*memory);
  return kernel(place, count, place.Read<T>(*memory));
}

template <Real T>
void ScaleIn(const std::shared_ptr<SyncedMemory>& memory, std::int64_t count, T factor) {
  if (Untouched(memory)) return;
  const Place place = Home(*memory);
  Scale(place, count, factor, place.ReadWrite<T>(*memory));
}

}  // namespace

template <class T>
void Blob<T>::Update()
  requires Real<T>
{
  if (Untouched(diff_)) return;
  const Place place = Home(Untouched(data_) ? *diff_ : *data_);
  const T* const diff = place.Read<T>(*diff_);
  Axpy(place, count_, T{-1}, diff, place.ReadWrite<T>(*data_));
}

template <class T>
double Blob<T>::asum_data() const
  requires Real<T>
{
  return Sum<T>(Asum, data_, count_);
}
template <class T>
double Blob<T>::asum_diff() const
  requires Real<T>
{
  return Sum<T>(Asum, diff_, count_);
}
template <class T>
double Blob<T>::sumsq_data() const
  requires Real<T>
{
  return Sum<T>(Sumsq, data_, count_);
}
template <class T>
double Blob<T>::sumsq_diff() const
  requires Real<T>
{
  return Sum<T>(Sumsq, diff_, count_);
}
template <class T>
void Blob<T>::scale_data(T factor)
  requires Real<T>
{
  ScaleIn(data_, count_, factor);
}
template <class T>
void Blob<T>::scale_diff(T factor)
  requires Real<T>
{
  ScaleIn(diff_, count_, factor);
}

template void Blob<float>::Update();
template double Blob<float>::asum_data() const;
template double Blob<float>::asum_diff() const;
template double Blob<float>::sumsq_data() const;
template double Blob<float>::sumsq_diff() const;
template void Blob<float>::scale_data(float);
template void Blob<float>::scale_diff(float);
template void Blob<double>::Update();
template double Blob<double>::asum_data() const;
template double Blob<double>::asum_diff() const;
template double Blob<double>::sumsq_data() const;
template double Blob<double>::sumsq_diff() const;
template void Blob<double>::scale_data(double);
template void Blob<double>::scale_diff(double);

}  // namespace ferry
