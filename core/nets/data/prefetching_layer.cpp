// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/prefetching_layer.hpp"

#include "ferry/nets/error.hpp"

namespace ferry::detail {

template <class T>
void PrefetchingLayer<T>::LayerSetUp(const Blobs& /*bottom*/, const Blobs& top) {
  const std::size_t ahead = this->layer_param().data_param().prefetch();
  if (ahead == 0) this->Fail("data_param's prefetch is 0; it is how many batches there are, 1 or more");
  prefetcher_.reset();
  try {
    source_ = MakeSource(top.size());
    const std::vector<Shape> shapes = source_->Shapes(this->random_key());
    for (std::size_t i = 0; i < top.size(); ++i) top[i]->Reshape(shapes[i]);
  } catch (const NetError& error) {
    this->Fail(error.what());
  }
  prefetcher_ = std::make_unique<Prefetcher<T>>(*source_, ahead - 1, top, this->place());
  prefetcher_->Expect(this->random_key());
}

template <class T>
void PrefetchingLayer<T>::set_place(const Place& place) {
  Layer<T>::set_place(place);
  if (prefetcher_ != nullptr) prefetcher_->set_place(place);
}

template <class T>
void PrefetchingLayer<T>::set_random_key(const RandomKey& key) {
  Layer<T>::set_random_key(key);
  if (prefetcher_ != nullptr) prefetcher_->Expect(key);
}

template <class T>
void PrefetchingLayer<T>::ForwardAt(const Place& /*place*/, const Blobs& /*bottom*/, const Blobs& top) {
  if (prefetcher_ == nullptr) this->Fail("it has no source; SetUp has not ended, or failed");
  try {
    prefetcher_->Take(this->random_key(), top);
  } catch (const NetError& error) {
    this->Fail(error.what());
  }
}

template class PrefetchingLayer<float>;
template class PrefetchingLayer<double>;

}  // namespace ferry::detail
