// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/net.pb.h"

/// Which layers have which gradients.
namespace ferry::nets_test {

/// What a bottom or parameter holds: numbers in [-1, 1) unless it says otherwise.
struct Fill {
  enum Kind : std::uint8_t { kReal, kAwayFromZero, kPositive, kIntegers, kList };
  Kind kind = kReal;
  std::vector<double> list{};  ///< of kIntegers, how many there are from 0 on; of kList, the elements again
};
inline Fill Real() { return {}; }
/// At least 0.1 from 0, where a kink is.
inline Fill AwayFromZero() { return {Fill::kAwayFromZero}; }
/// In [0.2, 1.2).
inline Fill Positive() { return {Fill::kPositive}; }
inline Fill Integers(double n) { return {Fill::kIntegers, {n}}; }
inline Fill List(std::vector<double> values) { return {Fill::kList, std::move(values)}; }

struct Bottom {
  std::vector<std::int64_t> shape;
  Fill fill{};
};

struct GradientRow {
  std::string type;
  std::string text;  ///< of the LayerParameter, besides name and type
  std::vector<Bottom> bottoms;
  std::vector<std::size_t> checked;  ///< the bottoms that have a gradient
  struct Options {
    int tops = 1;
    bool in_place = false;
    bool params = true;  ///< whether parameters have gradients
    Phase phase = TRAIN;
    std::vector<Fill> param_fills{};
    /// Why Caffe's gradient, which is kept, is not the derivative.
    std::string wrong{};
  } options{};
};

/// Types that have no gradient, and Silence, whose gradient of 0 has no derivative to be compared with.
inline const std::vector<std::string>& WithoutGradient() {
  static const std::vector<std::string> types{"Accuracy",   "ArgMax",     "Data",     "DummyData",
                                              "HDF5Data",   "HDF5Output", "Input",    "ImageData",
                                              "MemoryData", "Silence",    "Threshold"};
  return types;
}

inline const std::vector<GradientRow>& ElementRows() {
  static const std::vector<std::int64_t> shape{2, 3, 2};
  static const std::vector<GradientRow> rows{
      {"AbsVal", "", {{shape, AwayFromZero()}}, {0}},
      {"BNLL", "", {{shape}}, {0}},
      {"Clip", "clip_param { min: -0.5 max: 0.5 }", {{shape}}, {0}},
      {"Clip",
       "clip_param { min: -0.5 max: 0.5 }",
       {{shape}},
       {0},
       {.in_place = true, .wrong = "the top no longer says which elements were clipped"}},
      {"Dropout", "", {{shape}}, {0}},
      {"Dropout", "", {{shape}}, {0}, {.in_place = true}},
      {"Dropout", "", {{shape}}, {0}, {.phase = TEST}},
      {"ELU", "elu_param { alpha: 0.5 }", {{shape, AwayFromZero()}}, {0}},
      {"ELU", "elu_param { alpha: 0.5 }", {{shape, AwayFromZero()}}, {0}, {.in_place = true}},
      {"Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }", {{shape}}, {0}},
      {"Log", "log_param { base: 2 scale: 0.5 shift: 1 }", {{shape, Positive()}}, {0}},
      {"Power", "power_param { power: 3 scale: 0.5 shift: 1 }", {{shape}}, {0}},
      {"Power",
       "power_param { power: 3 scale: 0.5 shift: 1 }",
       {{shape}},
       {0},
       {.in_place = true, .wrong = "Backward takes the top for the bottom"}},
      {"PReLU", "", {{shape, AwayFromZero()}}, {0}},
      {"PReLU", "prelu_param { channel_shared: true }", {{shape, AwayFromZero()}}, {0}, {.in_place = true}},
      {"ReLU", "relu_param { negative_slope: 0.1 }", {{shape, AwayFromZero()}}, {0}},
      {"ReLU", "relu_param { negative_slope: 0.1 }", {{shape, AwayFromZero()}}, {0}, {.in_place = true}},
      {"Sigmoid", "", {{shape}}, {0}},
      {"Sigmoid", "", {{shape}}, {0}, {.in_place = true}},
      {"Swish", "swish_param { beta: 2 }", {{shape}}, {0}},
      {"TanH", "", {{shape}}, {0}},
      {"TanH", "", {{shape}}, {0}, {.in_place = true}},
      {"Bias", "", {{shape}}, {0}},
      {"Bias", "", {{shape}, {{3}}}, {0, 1}, {.in_place = true}},
      {"Scale", "scale_param { bias_term: true }", {{shape}}, {0}},
      {"Scale", "", {{shape}}, {0}, {.in_place = true}},
      {"Scale", "scale_param { axis: 0 }", {{shape}, {{2}}}, {0, 1}},
      {"Softmax", "", {{shape}}, {0}},
      {"Softmax", "softmax_param { axis: -1 }", {{shape}}, {0}, {.in_place = true}},
      {"MVN", "", {{{2, 2, 2, 3}}}, {0}},
      {"MVN", "mvn_param { normalize_variance: false across_channels: true }", {{{2, 2, 2, 3}}}, {0}},
      {"MVN",
       "mvn_param { eps: 0.5 }",
       {{{2, 2, 2, 3}}},
       {0},
       {.wrong = "Backward takes eps out of the variance that it divides by"}},
      {"BatchNorm", "", {{shape}}, {0}, {.params = false}},
      {"BatchNorm", "", {{shape}}, {0}, {.in_place = true, .params = false}},
      {"BatchNorm",
       "",
       {{shape}},
       {0},
       {.params = false, .phase = TEST, .param_fills = {Real(), Positive(), Positive()}}},
      {"LRN", "lrn_param { local_size: 3 alpha: 2 }", {{{2, 4, 2, 2}}}, {0}},
      {"LRN", "lrn_param { local_size: 3 alpha: 2 norm_region: WITHIN_CHANNEL }", {{{1, 2, 4, 3}}}, {0}},
  };
  return rows;
}

inline const std::vector<GradientRow>& ShapeRows() {
  static const std::vector<std::int64_t> shape{2, 3, 2};
  static const std::vector<GradientRow> rows{
      {"Split", "", {{shape}}, {0}},
      {"Split", "", {{shape}}, {0}, {.tops = 2}},
      {"Split", "", {{shape}}, {0}, {.tops = 5}},
      {"Concat", "", {{shape}, {{2, 2, 2}}, {{2, 1, 2}}}, {0, 1, 2}},
      {"Concat", "concat_param { axis: -1 }", {{shape}, {{2, 3, 1}}}, {1}},
      {"Concat", "", {{shape}}, {0}},
      {"Slice", "", {{shape}}, {0}, {.tops = 3}},
      {"Slice", "slice_param { axis: 2 slice_point: 1 }", {{shape}}, {0}, {.tops = 2}},
      {"Slice", "", {{shape}}, {0}},
      {"Flatten", "", {{shape}}, {0}},
      {"Reshape", "reshape_param { shape { dim: 0 dim: -1 } }", {{shape}}, {0}},
      {"Eltwise", "eltwise_param { coeff: 2 coeff: -1 coeff: 1 }", {{shape}, {shape}, {shape}}, {0, 1, 2}},
      {"Eltwise", "eltwise_param { operation: PROD }", {{shape}, {shape}}, {0, 1}},
      {"Eltwise", "eltwise_param { operation: PROD }", {{shape}, {shape}, {shape}, {shape}}, {0, 2, 3}},
      {"Eltwise",
       "eltwise_param { operation: PROD stable_prod_grad: false }",
       {{shape, AwayFromZero()}, {shape, AwayFromZero()}, {shape, AwayFromZero()}},
       {0, 1, 2}},
      {"Eltwise", "eltwise_param { operation: MAX }", {{shape}, {shape}, {shape}}, {0, 1, 2}},
      {"Reduction", "reduction_param { coeff: 3 }", {{shape}}, {0}},
      {"Reduction", "reduction_param { operation: ASUM axis: 1 }", {{shape, AwayFromZero()}}, {0}},
      {"Reduction", "reduction_param { operation: SUMSQ axis: -1 coeff: 2 }", {{shape}}, {0}},
      {"Reduction", "reduction_param { operation: MEAN }", {{{3, 1100}}}, {0}},
      {"Tile", "tile_param { tiles: 3 }", {{{2, 3, 3}}}, {0}},
      {"Tile", "tile_param { tiles: 3 axis: -1 }", {{{2, 3, 1}}}, {0}},
      {"Filter", "", {{{5, 2}}, {{5, 3, 1}}, {{5}, List({1, 0, 1, 1, 0})}}, {0, 1}, {.tops = 2}},
      {"BatchReindex", "", {{{4, 3}}, {{5}, List({3, 0, 3, 3, 2})}}, {0}},
      {"Parameter", "parameter_param { shape { dim: 2 dim: 3 } }", {}, {}},
      {"Crop", "crop_param { offset: 1 }", {{{2, 2, 4, 3}}, {{2, 2, 3, 2}}}, {0}},
      {"Im2col", "convolution_param { kernel_size: 2 stride: 2 pad: 1 }", {{{2, 2, 3, 4}}}, {0}},
  };
  return rows;
}

inline const std::vector<GradientRow>& WeightRows() {
  static const std::vector<GradientRow> rows{
      {"InnerProduct", "inner_product_param { num_output: 3 }", {{{2, 4}}}, {0}},
      {"InnerProduct",
       "inner_product_param { num_output: 3 transpose: true axis: 2 bias_term: false }",
       {{{2, 2, 3}}},
       {0}},
      {"Embed", "embed_param { num_output: 3 input_dim: 4 }", {{{5}, Integers(4)}}, {}},
      {"Convolution",
       "convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 group: 2 }",
       {{{2, 2, 4, 5}}},
       {0}},
      {"Convolution",
       "convolution_param { num_output: 2 kernel_size: 2 dilation: 2 bias_term: false }",
       {{{1, 2, 4, 5}}, {{1, 2, 4, 5}}},
       {0, 1},
       {.tops = 2}},
      {"Convolution", "convolution_param { num_output: 2 kernel_size: 1 }", {{{2, 3, 2, 2}}}, {0}},
      {"Convolution",
       "convolution_param { num_output: 3 kernel_size: 3 pad: 1 group: 3 }",
       {{{1, 3, 4, 4}}},
       {0}},
      {"Convolution", "convolution_param { num_output: 2 kernel_size: 2 }", {{{1, 2, 3, 3, 2}}}, {0}},
      {"Deconvolution",
       "convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 group: 2 }",
       {{{2, 2, 3, 2}}},
       {0}},
      {"Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }", {{{1, 2, 5, 4}}}, {0}},
      {"Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 pool: AVE }", {{{1, 2, 5, 4}}}, {0}},
      {"Pooling", "pooling_param { global_pooling: true pool: AVE }", {{{2, 2, 3, 2}}}, {0}},
      {"Pooling",
       "pooling_param { kernel_size: 2 stride: 2 pool: STOCHASTIC }",
       {{{1, 2, 4, 4}, Positive()}},
       {0}},
      {"SPP", "spp_param { pyramid_height: 2 }", {{{1, 2, 4, 5}}}, {0}},
      {"SPP", "spp_param { pyramid_height: 2 pool: AVE }", {{{1, 2, 4, 5}}}, {0}},
      {"RNN", "recurrent_param { num_output: 2 }", {{{3, 2, 2}}, {{3, 2}, List({0, 0, 1, 1, 1, 0})}}, {0}},
      {"RNN",
       "recurrent_param { num_output: 2 }",
       {{{3, 2, 2}}, {{3, 2}, List({0, 0, 1, 1, 1, 0})}, {{2, 3}}},
       {0, 2}},
      {"RNN",
       "recurrent_param { num_output: 2 expose_hidden: true }",
       {{{2, 2, 2}}, {{2, 2}, List({1})}, {{1, 2, 2}}},
       {0},
       {.tops = 2, .wrong = "the diff of the exposed state is ignored"}},
      {"LSTM", "recurrent_param { num_output: 2 }", {{{3, 2, 2}}, {{3, 2}, List({0, 0, 1, 1, 1, 0})}}, {0}},
      {"LSTM",
       "recurrent_param { num_output: 2 }",
       {{{3, 2, 2}}, {{3, 2}, List({0, 0, 1, 1, 1, 0})}, {{2, 3}}},
       {0, 2}},
      {"LSTMUnit", "", {{{1, 2, 3}}, {{1, 2, 12}}, {{1, 2}, List({1, 0})}}, {0, 1}, {.tops = 2}},
  };
  return rows;
}

inline const std::vector<GradientRow>& LossRows() {
  static const std::vector<GradientRow> rows{
      {"SoftmaxWithLoss", "", {{{3, 4}}, {{3}, Integers(4)}}, {0}},
      {"SoftmaxWithLoss",
       "loss_param { ignore_label: 1 normalization: BATCH_SIZE } softmax_param { axis: 1 }",
       {{{2, 3, 4}}, {{2, 4}, Integers(3)}},
       {0}},
      {"SigmoidCrossEntropyLoss", "", {{{3, 4}}, {{3, 4}, Integers(2)}}, {0}},
      {"SigmoidCrossEntropyLoss",
       "loss_param { ignore_label: 1 normalization: VALID }",
       {{{3, 4}}, {{3, 4}, Integers(2)}},
       {0}},
      {"EuclideanLoss", "", {{{3, 4}}, {{3, 4}}}, {0, 1}},
      {"HingeLoss", "", {{{3, 4}}, {{3}, Integers(4)}}, {0}},
      {"HingeLoss", "hinge_loss_param { norm: L2 }", {{{3, 4}}, {{3}, Integers(4)}}, {0}},
      {"MultinomialLogisticLoss", "", {{{3, 4}, Positive()}, {{3}, Integers(4)}}, {0}},
      {"InfogainLoss", "", {{{3, 4}}, {{3}, Integers(4)}, {{1, 1, 4, 4}, Positive()}}, {0}},
      {"ContrastiveLoss", "", {{{4, 3}}, {{4, 3}}, {{4}, List({1})}}, {0, 1}},
      {"ContrastiveLoss",
       "contrastive_loss_param { margin: 3 }",
       {{{4, 3}}, {{4, 3}}, {{4}, List({1, 0, 0, 1})}},
       {0, 1},
       {.wrong = "Backward divides by the distance plus 1e-4"}},
      {"ContrastiveLoss",
       "contrastive_loss_param { margin: 5 legacy_version: true }",
       {{{4, 3}}, {{4, 3}}, {{4}, List({1, 0, 0, 1})}},
       {0, 1}},
  };
  return rows;
}

}  // namespace ferry::nets_test
