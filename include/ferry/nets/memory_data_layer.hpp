// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ferry/data.pb.h"
#include "ferry/nets/layer.hpp"

namespace ferry {
namespace detail {
template <class T>
class DataTransformer;
}  // namespace detail

/// Tops are batches of what the program gives: top 0 of data, top 1 of labels. Each pass forward gives the
/// next batch; after the last one comes the first. Caffe's MemoryDataLayer; a program finds it by
/// dynamic_cast<MemoryDataLayer<T>*>(net.layer_by_name(name).get()).
///
/// Parameters: memory_data_param { batch_size, channels, height, width }; transform_param, for
/// AddDatumVector.
/// Tops: 2: batch_size x channels x height x width, and batch_size.
/// Caffe: the tops are the program's own arrays, where here they are copies.
template <class T>
class MemoryDataLayer : public Layer<T> {
 public:
  using typename Layer<T>::Blobs;

  explicit MemoryDataLayer(const LayerParameter& param);
  ~MemoryDataLayer() override;

  const char* type() const override { return "MemoryData"; }
  int ExactNumBottomBlobs() const override { return 0; }
  int ExactNumTopBlobs() const override { return 2; }
  void LayerSetUp(const Blobs& bottom, const Blobs& top) override;
  void Reshape(const Blobs& /*bottom*/, const Blobs& /*top*/) override {}

  /// From now on, batches come from the caller's n items and labels, which must live until the next Reset.
  /// The next pass has the first ones; if a solver is restored before that, it has those at which the
  /// snapshot stood. Throws NetError unless n is a multiple of the batch size, and std::invalid_argument for
  /// null. A transform_param plays no part.
  void Reset(const T* data, const T* labels, std::int64_t n);
  /// From now on, batches come from these, transformed; the next pass has the first ones. Throws NetError
  /// unless they are a multiple of the batch size, and as long as some of those that were added before have
  /// not been in a batch.
  void AddDatumVector(const std::vector<Datum>& datum_vector);
  /// Throws NetError for 0, and as AddDatumVector.
  void set_batch_size(std::int64_t new_size);

  std::int64_t batch_size() const noexcept { return batch_size_; }
  std::int64_t channels() const noexcept { return channels_; }
  std::int64_t height() const noexcept { return height_; }
  std::int64_t width() const noexcept { return width_; }

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override;

 private:
  std::uint64_t StartOf(std::uint64_t iteration) const;
  /// Of pass number `iteration`, counted from the first item.
  std::int64_t PositionOf(std::uint64_t iteration) const;
  void StartAt(std::int64_t position);
  void StartAtNextPass();
  void RequireConsumed(const char* call) const;
  void RequireMultiple(std::int64_t n) const;

  std::int64_t batch_size_ = 0, channels_ = 0, height_ = 0, width_ = 0;
  const T* data_ = nullptr;
  const T* labels_ = nullptr;
  std::int64_t n_ = 0;
  std::int64_t start_ = 0;  ///< the position of pass number start_iteration_
  std::uint64_t start_iteration_ = 0;
  bool fresh_ = false;  ///< no pass has had any of the items that were given last
  bool added_ = false;  ///< and not yet consumed
  std::unique_ptr<detail::DataTransformer<T>> transformer_;
  std::vector<T> added_data_, added_labels_;
};

extern template class MemoryDataLayer<float>;
extern template class MemoryDataLayer<double>;

}  // namespace ferry
