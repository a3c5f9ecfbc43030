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
  return Holds(memory.head(), Side::kGpu) ? Place(device) : Place::Cpu(device);
}

}  // namespace

template <class T>
void Blob<T>::Update()
  requires Real<T>
{
  if (Untouched(diff_.get())) return;
  Axpy(Home(Untouched(data_.get()) ? *diff_ : *data_), T{-1}, Diff(*this), *this);
}

template <class T>
double Blob<T>::asum_data() const
  requires Real<T>
{
  return Untouched(data_.get()) ? 0 : Asum(Home(*data_), *this);
}
template <class T>
double Blob<T>::asum_diff() const
  requires Real<T>
{
  return Untouched(diff_.get()) ? 0 : Asum(Home(*diff_), Diff(*this));
}
template <class T>
double Blob<T>::sumsq_data() const
  requires Real<T>
{
  return Untouched(data_.get()) ? 0 : Sumsq(Home(*data_), *this);
}
template <class T>
double Blob<T>::sumsq_diff() const
  requires Real<T>
{
  return Untouched(diff_.get()) ? 0 : Sumsq(Home(*diff_), Diff(*this));
}
template <class T>
void Blob<T>::scale_data(T factor)
  requires Real<T>
{
  if (!Untouched(data_.get())) Scale(Home(*data_), factor, *this);
}
template <class T>
void Blob<T>::scale_diff(T factor)
  requires Real<T>
{
  if (!Untouched(diff_.get())) Scale(Home(*diff_), factor, Diff(*this));
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
