// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/layers/layers.hpp"
#include "core/nets/vision/convolution_layer.hpp"

namespace ferry::detail {
namespace {

/// y[n, o, p] = bias[o] + the sum over c and k of weight[o, c, k] * x[n, c, p * stride - pad + k * dilation],
/// where x is 0 outside the image. Images have any number of spatial axes, 0 included; p and k are indices
/// of all of them. With groups, each of equally many channels of top and bottom, a channel of the top sees
/// those of its group.
///
/// Parameters: convolution_param { num_output, which must be given; bias_term: true; kernel_size, once or
/// for each spatial axis, or kernel_h and kernel_w; pad: 0, stride: 1 and dilation: 1, each once or for each
/// spatial axis; pad_h, pad_w, stride_h and stride_w; group: 1; axis: 1, that of channels; weight_filler,
/// bias_filler: constant 0 }. engine and force_nd_im2col make no difference.
/// Weights: weight, of shape num_output x channels / group x kernel; with bias_term, bias, of num_output.
/// Bottoms: 1 or more, all of one shape: the axes before `axis` are images, those after it are spatial.
/// Tops: as many as bottoms, with num_output channels and (x + 2 pad - dilation (kernel - 1) - 1) / stride +
/// 1 elements along a spatial axis of x. The quotient is rounded towards 0. No top may share
/// elements with any bottom: Forward throws. Nor may their diffs, where a bottom gets a gradient: Backward
/// throws.
/// Caffe: kernel_h without kernel_w
/// is refused there, too, but dilation: 0 is not. It multiplies padding as well: next to it, a weight that is
/// infinite or not-a-number makes the top not-a-number, which here depends on the library behind the layer.
template <class T>
class ConvolutionLayer final : public ConvolutionLayerBase<T> {
 public:
  explicit ConvolutionLayer(const LayerParameter& param)
      : ConvolutionLayerBase<T>(param, ConvolutionLayerBase<T>::Direction::kToMaps) {}
  const char* type() const override { return "Convolution"; }
};

}  // namespace

FERRY_NETS_MAKE_LAYER(Convolution);

}  // namespace ferry::detail
