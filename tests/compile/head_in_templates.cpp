// SPDX-License-Identifier: BSD-2-Clause
// Caffe's names of the head's values within templates, as layers use them.
#include "ferry/blob.hpp"

template <class T>
bool IsFresh(ferry::Blob<T>& blob) {
  return blob.data()->head() == ferry::SyncedMemory::UNINITIALIZED;
}

template <class T>
class Layer {
 public:
  int Ordinal(const ferry::Blob<T>& blob) const {
    const ferry::SyncedMemory::SyncedHead head = blob.diff()->head();
    switch (head) {
      case ferry::SyncedMemory::UNINITIALIZED:
        return 0;
      case ferry::SyncedMemory::HEAD_AT_CPU:
        return 1;
      case ferry::SyncedMemory::HEAD_AT_GPU:
        return 2;
      case ferry::SyncedMemory::SYNCED:
        return 3;
    }
    return -1;
  }
};

template <ferry::Head kHead>
constexpr bool kOnGpu = ferry::Holds(kHead, ferry::Side::kGpu);
static_assert(kOnGpu<ferry::SyncedMemory::SYNCED> && !kOnGpu<ferry::SyncedMemory::HEAD_AT_CPU>);

bool Use(ferry::Blob<float>& floats, ferry::Blob<int>& ints) {
  const auto on_gpu = [](const auto& blob) {
    return blob.data()->head() == ferry::SyncedMemory::HEAD_AT_GPU;
  };
  const auto memory_is_synced = [](const auto& memory) { return memory.head() == memory.SYNCED; };
  return IsFresh(floats) && IsFresh(ints) && on_gpu(floats) && on_gpu(ints) &&
         memory_is_synced(*floats.data()) && Layer<float>().Ordinal(floats) == Layer<int>().Ordinal(ints);
}
