// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/vision/scratch.hpp"

#include <map>

#include "core/nets/vision/slice.hpp"

namespace ferry::detail {

template <Real T>
Part Scratch<T>::Take(std::int64_t count) {
  if (count == 0) return {nullptr, {0, 0}, 0, {}};
  // Weak, so that none outlives the layers, and so their device.
  static thread_local std::map<const Device*, std::weak_ptr<Blob<T>>> of_device;
  std::weak_ptr<Blob<T>>& mine = of_device[device_];
  std::shared_ptr<Blob<T>> shared = mine.lock();
  if (shared == nullptr) {
    shared = std::make_shared<Blob<T>>(*device_);
    shared->set_name("scratch of layers");
    mine = shared;
  }
  if (shared->count() < count) shared->Reshape({count});
  shared_ = shared;
  return Slice<T>(shared_->part(BlobPart::kData), 0, count);
}

template class Scratch<float>;
template class Scratch<double>;

}  // namespace ferry::detail
