// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "ferry/nets/layer.hpp"

/// The types of layers, each with a source file of its own in this folder. Their functions with kernels are
/// public, since nvcc takes no kernel in others.
// clang-format off
#define FERRY_NETS_LAYERS(X)                                                                               \
  X(AbsVal) X(Accuracy) X(ArgMax) X(BNLL) X(BatchNorm) X(BatchReindex) X(Bias) X(Clip) X(Concat)           \
  X(ContrastiveLoss) X(Convolution) X(Crop) X(Data) X(Deconvolution) X(Dropout) X(DummyData) X(ELU)        \
  X(Eltwise) X(Embed) X(EuclideanLoss) X(Exp) X(Filter) X(Flatten) X(HDF5Data) X(HDF5Output) X(HingeLoss)  \
  X(Im2col) X(ImageData) X(InfogainLoss) X(InnerProduct) X(Input) X(LRN) X(LSTM) X(LSTMUnit) X(Log) X(MVN) \
  X(MemoryData) X(MultinomialLogisticLoss) X(PReLU) X(Parameter) X(Pooling) X(Power) X(RNN) X(ReLU)        \
  X(Reduction) X(Reshape) X(SPP) X(Scale) X(Sigmoid) X(SigmoidCrossEntropyLoss) X(Silence) X(Slice)        \
  X(Softmax) X(SoftmaxWithLoss) X(Split) X(Swish) X(TanH) X(Threshold) X(Tile)
// clang-format on

namespace ferry::detail {

/// Makes a layer of the type, for float and double.
#define FERRY_NETS_LAYER(type) \
  template <class T>           \
  std::shared_ptr<Layer<T>> Make##type(const LayerParameter& param);
FERRY_NETS_LAYERS(FERRY_NETS_LAYER)
#undef FERRY_NETS_LAYER

}  // namespace ferry::detail

/// At the end of a layer's file: makes <type>Layer one of the layers above.
#define FERRY_NETS_MAKE_LAYER(type)                                                \
  template <class T>                                                               \
  std::shared_ptr<Layer<T>> Make##type(const LayerParameter& param) {              \
    return std::make_shared<type##Layer<T>>(param);                                \
  }                                                                                \
  template std::shared_ptr<Layer<float>> Make##type<float>(const LayerParameter&); \
  template std::shared_ptr<Layer<double>> Make##type<double>(const LayerParameter&)
