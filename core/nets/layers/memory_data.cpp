// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/nets/data/data_transformer.hpp"
#include "core/nets/layers/layers.hpp"
#include "core/nets/prefetch.hpp"
#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/memory_data_layer.hpp"

namespace ferry {

using detail::DataTransformer;

template <class T>
MemoryDataLayer<T>::MemoryDataLayer(const LayerParameter& param) : Layer<T>(param) {}

template <class T>
MemoryDataLayer<T>::~MemoryDataLayer() = default;

template <class T>
void MemoryDataLayer<T>::LayerSetUp(const Blobs& /*bottom*/, const Blobs& top) {
  const MemoryDataParameter& param = this->layer_param().memory_data_param();
  batch_size_ = param.batch_size();
  channels_ = param.channels();
  height_ = param.height();
  width_ = param.width();
  if (batch_size_ == 0 || channels_ == 0 || height_ == 0 || width_ == 0)
    this->Fail("memory_data_param has batch_size " + std::to_string(batch_size_) + ", channels " +
               std::to_string(channels_) + ", height " + std::to_string(height_) + " and width " +
               std::to_string(width_) + "; all must be there, and 1 or more");
  try {
    transformer_ = std::make_unique<DataTransformer<T>>(this->layer_param().transform_param(), this->phase_);
  } catch (const NetError& error) {
    this->Fail(error.what());
  }
  top[0]->Reshape({batch_size_, channels_, height_, width_});
  top[1]->Reshape({batch_size_});
  data_ = labels_ = nullptr;
  n_ = 0;
  added_ = fresh_ = false;
}

/// The pass that has position start_. The first one has it, even if the solver's iteration is lower than an
/// earlier pass's, and for items that were added whatever its number is.
template <class T>
std::uint64_t MemoryDataLayer<T>::StartOf(std::uint64_t iteration) const {
  if (!fresh_) return start_iteration_;
  return added_ ? iteration : std::min(start_iteration_, iteration);
}

template <class T>
std::int64_t MemoryDataLayer<T>::PositionOf(std::uint64_t iteration) const {
  const auto passes = static_cast<std::int64_t>(iteration - StartOf(iteration));  // may be less than 0
  const std::int64_t position = (start_ + passes % n_ * (batch_size_ % n_)) % n_;
  return position < 0 ? position + n_ : position;
}

template <class T>
void MemoryDataLayer<T>::StartAt(std::int64_t position) {
  start_ = position;
  start_iteration_ = this->random_key().iteration;
}

template <class T>
void MemoryDataLayer<T>::StartAtNextPass() {
  StartAt(0);
  fresh_ = true;
}

template <class T>
void MemoryDataLayer<T>::RequireConsumed(const char* call) const {
  if (added_)
    this->Fail(std::string(call) + ": " + std::to_string(n_ - PositionOf(this->random_key().iteration)) +
               " of the items that were added have not been in a batch yet");
}

template <class T>
void MemoryDataLayer<T>::RequireMultiple(std::int64_t n) const {
  if (n <= 0 || batch_size_ == 0 || n % batch_size_ != 0)
    this->Fail(std::to_string(n) + " items; it takes a multiple of the batch size, which is " +
               std::to_string(batch_size_));
}

template <class T>
void MemoryDataLayer<T>::Reset(const T* data, const T* labels, std::int64_t n) {
  if (data == nullptr || labels == nullptr)
    throw std::invalid_argument("MemoryDataLayer::Reset: data or labels are null");
  RequireMultiple(n);
  if (this->layer_param().has_transform_param())
    Log(LogLevel::kWarning,
        "layer '" + this->layer_param().name() +
            "' (MemoryData): Reset does not transform; its transform_param plays no part");
  data_ = data;
  labels_ = labels;
  n_ = n;
  StartAtNextPass();
}

template <class T>
void MemoryDataLayer<T>::AddDatumVector(const std::vector<Datum>& datum_vector) {
  RequireConsumed("AddDatumVector");
  const auto n = static_cast<std::int64_t>(datum_vector.size());
  RequireMultiple(n);
  const Shape shape{n, channels_, height_, width_};
  std::vector<T> data(static_cast<std::size_t>(shape.count()));
  std::vector<T> labels;
  T* to = data.data();
  detail::Item item{this->random_key(), 0, {}};
  const std::uint64_t first = item.key.iteration * static_cast<std::uint64_t>(batch_size_);
  try {
    for (const Datum& datum : datum_vector) {
      item.number = first + labels.size();
      item.name = "datum " + std::to_string(labels.size());
      if (datum.encoded())
        transformer_->Transform(transformer_->Decode(datum, item.name), item, shape, to);
      else
        transformer_->Transform(datum, item, shape, to);
      labels.push_back(static_cast<T>(datum.label()));
      to += shape.count(1, 4);
    }
  } catch (const NetError& error) {
    this->Fail(error.what());
  }
  added_data_ = std::move(data);
  added_labels_ = std::move(labels);
  data_ = added_data_.data();
  labels_ = added_labels_.data();
  n_ = n;
  StartAtNextPass();
  added_ = true;
}

template <class T>
void MemoryDataLayer<T>::set_batch_size(std::int64_t new_size) {
  RequireConsumed("set_batch_size");
  if (new_size <= 0) this->Fail("set_batch_size: " + std::to_string(new_size) + "; it takes 1 or more");
  if (n_ != 0 && !fresh_) StartAt(PositionOf(this->random_key().iteration));
  batch_size_ = new_size;
}

template <class T>
void MemoryDataLayer<T>::ForwardAt(const Place& place, const Blobs& /*bottom*/, const Blobs& top) {
  if (data_ == nullptr) this->Fail("it has no data yet; call Reset or AddDatumVector of its MemoryDataLayer");
  const std::uint64_t iteration = this->random_key().iteration;
  const std::int64_t position = PositionOf(iteration);
  if (batch_size_ > n_ - position)
    this->Fail("a batch of " + std::to_string(batch_size_) + " from item " + std::to_string(position) +
               " on goes beyond the " + std::to_string(n_) + " items; call Reset after set_batch_size");
  top[0]->Reshape({batch_size_, channels_, height_, width_});
  top[1]->Reshape({batch_size_, 1, 1, 1});
  const std::int64_t size = channels_ * height_ * width_;
  std::copy_n(data_ + position * size, batch_size_ * size, top[0]->overwrite_cpu_data());
  std::copy_n(labels_ + position, batch_size_, top[1]->overwrite_cpu_data());
  for (const Blob<T>* const filled : top) detail::PrefetchTo(place, *filled);
  start_iteration_ = StartOf(iteration);
  fresh_ = false;
  if (position + batch_size_ == n_) added_ = false;
}

template class MemoryDataLayer<float>;
template class MemoryDataLayer<double>;

namespace detail {

FERRY_NETS_MAKE_LAYER(MemoryData);

}  // namespace detail
}  // namespace ferry
