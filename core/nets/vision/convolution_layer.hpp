// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "core/nets/vision/convolution.hpp"
#include "ferry/nets/layer.hpp"

namespace ferry::detail {

/// What Convolution and Deconvolution share: parameters, weights, shapes, and bias.
template <class T>
class ConvolutionLayerBase : public Layer<T> {
 public:
  using typename Layer<T>::Blobs;

  int MinBottomBlobs() const override { return 1; }
  int MinTopBlobs() const override { return 1; }
  bool EqualNumBottomTopBlobs() const override { return true; }

  void LayerSetUp(const Blobs& bottom, const Blobs& top) override;
  void Reshape(const Blobs& bottom, const Blobs& top) override;

 protected:
  enum class Direction : std::uint8_t { kToMaps, kToImages };
  ConvolutionLayerBase(const LayerParameter& param, Direction direction)
      : Layer<T>(param), direction_(direction) {}

  void ForwardAt(const Place& place, const Blobs& bottom, const Blobs& top) override;
  void BackwardAt(const Place& place, const Blobs& top, const std::vector<bool>& propagate_down,
                  const Blobs& bottom) override;

 private:
  void MakeWeights(const Blobs& bottom, std::int64_t outputs);
  void CheckBottoms(const Blobs& bottom) const;
  void RequireOwn(const Blobs& read, const Blobs& written, BlobPart part) const;
  bool HasBias() const { return this->layer_param().convolution_param().bias_term(); }

  const Direction direction_;
  int channel_axis_ = 0;
  std::int64_t channels_ = 0;
  ConvolutionSizes sizes_;
  Shape reshaped_for_;
  std::unique_ptr<ConvolutionMaps<T>> maps_;
  Blob<T> sums_{this->place().device()};
};

extern template class ConvolutionLayerBase<float>;
extern template class ConvolutionLayerBase<double>;

}  // namespace ferry::detail
