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

}  // namespace

template <Real T>
double detail::Sum(double (*kernel)(const Place&, std::int64_t, const T*), const SyncedMemory* memory,
                   std::int64_t count) {
  if (Untouched(memory)) return 0;
  const Place place = Home(*memory);
  return kernel(place, count, place.Read<T>(*memory));
}

template <Real T>
void detail::ScaleIn(SyncedMemory* memory, std::int64_t count, T factor) {
  if (Untouched(memory)) return;
  const Place place = Home(*memory);
  Scale(place, count, factor, place.ReadWrite<T>(*memory));
}

template <class T>
void Blob<T>::Update()
  requires Real<T>
{
  if (Untouched(diff_.get())) return;
  const Place place = Home(Untouched(data_.get()) ? *diff_ : *data_);
  const T* const diff = place.Read<T>(*diff_);
  Axpy(place, count_, T{-1}, diff, place.ReadWrite<T>(*data_));
}

#define FERRY_INSTANTIATE(T)                                                                         \
  template double detail::Sum(double (*)(const Place&, std::int64_t, const T*), const SyncedMemory*, \
                              std::int64_t);                                                         \
  template void detail::ScaleIn(SyncedMemory*, std::int64_t, T);                                     \
  template void Blob<T>::Update()
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
