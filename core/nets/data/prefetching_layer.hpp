// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "core/nets/data/prefetcher.hpp"
#include "ferry/nets/layer.hpp"

namespace ferry::detail {

/// A layer whose tops are batches that are read ahead. Which batch a pass forward gives is a function of the
/// layer's random key: pass number `iteration` gives batch number `iteration`, so that a run that is restored
/// reads on where it stopped.
template <class T>
class PrefetchingLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  int ExactNumBottomBlobs() const override { return 0; }
  void LayerSetUp(const Blobs& bottom, const Blobs& top) override;
  void Reshape(const Blobs& /*bottom*/, const Blobs& /*top*/) override {}
  void set_place(const Place& place) override;
  void set_random_key(const RandomKey& key) override;

 protected:
  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override;
  /// Throws NetError without the layer's name, as the source does.
  virtual std::unique_ptr<BatchSource<T>> MakeSource(std::size_t tops) = 0;

 private:
  std::unique_ptr<BatchSource<T>> source_;
  std::unique_ptr<Prefetcher<T>> prefetcher_;  ///< ends before the source does
};

extern template class PrefetchingLayer<float>;
extern template class PrefetchingLayer<double>;

}  // namespace ferry::detail
