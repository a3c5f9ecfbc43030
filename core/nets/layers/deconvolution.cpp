// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/vision/convolution_layer.hpp"

namespace ferry::detail {
namespace {

/// A Convolution with bottom and top exchanged: y[n, o, q] = bias[o] + the sum of weight[c, o, k] * x[n, c,
/// p] over all c, k and p with q = p * stride - pad + k * dilation.
///
/// Parameters: convolution_param, as Convolution has it.
/// Weights: weight, of shape channels of the bottom x num_output / group x kernel; with bias_term, bias, of
/// num_output.
/// Bottoms: 1 or more, all of one shape: the axes before `axis` are images, those after it are spatial.
/// Tops: as many as bottoms, with num_output channels and stride (x - 1) + dilation (kernel - 1) + 1 - 2 pad
/// elements along a spatial axis of x. No top may share
/// elements with any bottom: Forward throws. Nor may their diffs, where a bottom gets a gradient: Backward
/// throws.
/// Caffe: next to padding, a weight that is infinite or not-a-number makes the bottom's gradient
/// not-a-number, which here depends on the library behind the layer.
template <class T>
class DeconvolutionLayer final : public ConvolutionLayerBase<T> {
 public:
  explicit DeconvolutionLayer(const LayerParameter& param)
      : ConvolutionLayerBase<T>(param, ConvolutionLayerBase<T>::Direction::kToImages) {}
  const char* type() const override { return "Deconvolution"; }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Deconvolution);

}  // namespace ferry::detail
