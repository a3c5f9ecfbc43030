// SPDX-License-Identifier: BSD-2-Clause
// Nets of Caffe's first form.
#include <algorithm>
#include <set>
#include <utility>

#include "tests/nets/format_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("each type of V0 becomes one of V1 with its parameters") {
  const std::pair<const char*, const char*> layers[] = {
      {R"(type: 'conv' num_output: 1 biasterm: false weight_filler { std: 2 } bias_filler { value: 3 } pad: 4
          kernelsize: 5 group: 6 stride: 7 blobs { num: 8 } blobs_lr: 9 blobs_lr: 10 weight_decay: 11)",
       R"(type: CONVOLUTION convolution_param { num_output: 1 bias_term: false weight_filler { std: 2 }
          bias_filler { value: 3 } pad: 4 kernel_size: 5 group: 6 stride: 7 }
          blobs { num: 8 } blobs_lr: 9 blobs_lr: 10 weight_decay: 11)"},
      {"type: 'innerproduct' num_output: 1 biasterm: true weight_filler { std: 2 } bias_filler { value: 3 }",
       R"(type: INNER_PRODUCT inner_product_param { num_output: 1 bias_term: true weight_filler { std: 2 }
          bias_filler { value: 3 } })"},
      {"type: 'pool' pool: STOCHASTIC kernelsize: 2 stride: 3 pad: 4",
       "type: POOLING pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 3 pad: 4 }"},
      {"type: 'pool' pool: AVE", "type: POOLING pooling_param { pool: AVE }"},
      {"type: 'dropout' dropout_ratio: 0.25", "type: DROPOUT dropout_param { dropout_ratio: 0.25 }"},
      {"type: 'lrn' local_size: 3 alpha: 2 beta: 4 k: 5",
       "type: LRN lrn_param { local_size: 3 alpha: 2 beta: 4 k: 5 }"},
      {"type: 'data' source: 's' batchsize: 2 scale: 3 meanfile: 'm' cropsize: 4 mirror: true rand_skip: 5",
       R"(type: DATA data_param { source: 's' batch_size: 2 rand_skip: 5 }
          transform_param { scale: 3 mean_file: 'm' crop_size: 4 mirror: true })"},
      {"type: 'hdf5_data' source: 's' batchsize: 2",
       "type: HDF5_DATA hdf5_data_param { source: 's' batch_size: 2 }"},
      {"type: 'images' source: 's' batchsize: 2 rand_skip: 3 shuffle_images: true new_height: 4 new_width: "
       "-1",
       R"(type: IMAGE_DATA image_data_param { source: 's' batch_size: 2 rand_skip: 3 shuffle: true
          new_height: 4
          new_width: 4294967295 })"},
      {R"(type: 'window_data' source: 's' batchsize: 2 det_fg_threshold: 3 det_bg_threshold: 4
          det_fg_fraction: 5
          det_context_pad: 6 det_crop_mode: 'c')",
       R"(type: WINDOW_DATA window_data_param { source: 's' batch_size: 2 fg_threshold: 3 bg_threshold: 4
          fg_fraction: 5 context_pad: 6 crop_mode: 'c' })"},
      {"type: 'infogain_loss' source: 's'", "type: INFOGAIN_LOSS infogain_loss_param { source: 's' }"},
      {"type: 'concat' concat_dim: 2", "type: CONCAT concat_param { concat_dim: 2 }"},
      {"type: 'hdf5_output' hdf5_output_param { file_name: 'f' }",
       "type: HDF5_OUTPUT hdf5_output_param { file_name: 'f' }"},
      {"type: 'relu' new_num: 1 new_channels: 2", "type: RELU"},
      {"", ""}};
  for (const auto& [v0, v1] : layers) {
    CAPTURE(v0);
    V1LayerParameter made;
    CHECK(UpgradeV0LayerParameter(
        Make<V1LayerParameter>("bottom: 'b' top: 't' layer { name: 'n' " + std::string(v0) + "}"), &made));
    CHECK(Difference(Make<V1LayerParameter>("bottom: 'b' top: 't' name: 'n' " + std::string(v1)), made) ==
          "");
  }
}

TEST_CASE("types of V0 have numbers, and another is an error that lists them") {
  const std::set<int> has_none = {V1LayerParameter::NONE,
                                  V1LayerParameter::ABSVAL,
                                  V1LayerParameter::ARGMAX,
                                  V1LayerParameter::CONTRASTIVE_LOSS,
                                  V1LayerParameter::DECONVOLUTION,
                                  V1LayerParameter::DUMMY_DATA,
                                  V1LayerParameter::ELTWISE,
                                  V1LayerParameter::EXP,
                                  V1LayerParameter::HINGE_LOSS,
                                  V1LayerParameter::MEMORY_DATA,
                                  V1LayerParameter::MVN,
                                  V1LayerParameter::POWER,
                                  V1LayerParameter::SIGMOID_CROSS_ENTROPY_LOSS,
                                  V1LayerParameter::SILENCE,
                                  V1LayerParameter::SLICE,
                                  V1LayerParameter::THRESHOLD};
  std::set<int> numbers;
  for (const char* const type : {"accuracy",
                                 "bnll",
                                 "concat",
                                 "conv",
                                 "data",
                                 "dropout",
                                 "euclidean_loss",
                                 "flatten",
                                 "hdf5_data",
                                 "hdf5_output",
                                 "im2col",
                                 "images",
                                 "infogain_loss",
                                 "innerproduct",
                                 "lrn",
                                 "multinomial_logistic_loss",
                                 "pool",
                                 "relu",
                                 "sigmoid",
                                 "softmax",
                                 "softmax_loss",
                                 "split",
                                 "tanh",
                                 "window_data"})
    numbers.insert(UpgradeV0LayerType(type));
  for (int number = 0; number < V1LayerParameter::LayerType_ARRAYSIZE; ++number)
    CHECK(numbers.contains(number) != has_none.contains(number));
  CHECK(UpgradeV0LayerType("images") == V1LayerParameter::IMAGE_DATA);
  CHECK_THROWS_MATCHES(
      UpgradeV0LayerType("cnn"), NetError,
      MessageMatches(StartsWith("V0 layer type 'cnn' is unknown; there are accuracy, bnll")));
  CHECK_THAT(UpgradeError("layers { layer { name: 'a' type: 'cnn' } }"),
             StartsWith("layer 'a': V0 layer type 'cnn'"));
}

TEST_CASE("a V0 layer loses the parameters that its type does not know, with a warning for each") {
  NetParameter net = Make(R"(layers { layer { name: 'a' type: 'relu' stride: 2 k: 3 } bottom: 'b' }
                             layers { layer { name: 'b' num_output: 4 } blobs_lr: 5 } input: 'b')");
  const LogLines log;
  CHECK_FALSE(UpgradeNetAsNeeded("net", &net));
  REQUIRE(log.lines().size() == 5);
  CHECK(log.lines()[0] == "layer 'a': stride is dropped: V0 layers of type 'relu' have none");
  CHECK_THAT(log.lines()[1], StartsWith("layer 'a': k is dropped"));
  CHECK_THAT(log.lines()[2], StartsWith("layer 'b': blobs_lr is dropped: a V0 layer has it within"));
  CHECK_THAT(log.lines()[3], StartsWith("layer 'b': num_output is dropped"));
  CHECK_THAT(log.lines()[4], StartsWith("net: not all could be upgraded"));
  CHECK(Difference(Make("layer { name: 'a' type: 'ReLU' bottom: 'b' } layer { name: 'b' }"), net) == "");
}

TEST_CASE(
    "a V0 net keeps its name, inputs, force_backward and unknown fields, and nothing else beside its "
    "layers") {
  NetParameter net = Make(R"(name: 'n' layers { layer { type: 'relu' } } input: 'i' input_dim: 1
      force_backward: true state { level: 3 } debug_info: true input_shape { dim: 1 })");
  net.mutable_unknown_fields()->AddVarint(1000, 1);
  NetParameter want = Make("name: 'n' layers { type: RELU } input: 'i' input_dim: 1 force_backward: true");
  want.mutable_unknown_fields()->AddVarint(1000, 1);
  NetParameter v1;
  CHECK(UpgradeV0Net(net, &v1));
  CHECK(Difference(want, v1) == "");
  v1 = net;
  CHECK(UpgradeV0Net(v1, &v1));
  CHECK(Difference(want, v1) == "");
}

TEST_CASE("what stands beside a V0 layer is dropped with a warning, and all is upgraded, as Caffe says") {
  const LogLines log;
  NetParameter net = Make("layers { name: 'beside' blobs_lr: 1 layer { name: 'l' type: 'relu' } }");
  CHECK(UpgradeNetAsNeeded("net", &net));
  CHECK(Difference(Make("layer { name: 'l' type: 'ReLU' }"), net) == "");
  CHECK(std::count_if(log.lines().begin(), log.lines().end(), [](const std::string& line) {
          return line.find("a V0 layer has it within") != std::string::npos;
        }) == 2);
}

TEST_CASE("a V0 layer's unknown fields are kept, unless a newer form has their numbers") {
  NetParameter net = Make("layers { layer { name: 'a' type: 'relu' } } input: 'i'");
  V1LayerParameter& connection = *net.mutable_layers(0);
  connection.mutable_unknown_fields()->AddVarint(6001, 1);
  connection.mutable_layer()->mutable_unknown_fields()->AddLengthDelimited(6000, "in it");
  NetParameter want = Make("layer { name: 'a' type: 'ReLU' }");
  want.mutable_layer(0)->mutable_unknown_fields()->AddVarint(6001, 1);
  want.mutable_layer(0)->mutable_unknown_fields()->AddLengthDelimited(6000, "in it");
  NetParameter whole = net;
  CHECK(UpgradeNetAsNeeded("net", &whole));
  CHECK(Difference(want, whole) == "");

  const int of_v1 = V1LayerParameter::kMvnParamFieldNumber;
  connection.mutable_layer()->mutable_unknown_fields()->AddVarint(of_v1, 1);
  const LogLines log;
  CHECK_FALSE(UpgradeNetAsNeeded("net", &net));
  CHECK(Difference(want, net) == "");
  REQUIRE(log.lines().size() == 2);
  CHECK_THAT(log.lines()[0], StartsWith("layer 'a': field 34, which is unknown, is dropped"));
}

TEST_CASE("a padding layer's unknown fields are dropped with a warning for each") {
  NetParameter net = Make(R"(input: 'd' layers { layer { name: 'p' type: 'padding' } bottom: 'd' top: 'p' }
                             layers { layer { type: 'conv' } bottom: 'p' top: 'a' })");
  net.mutable_layers(0)->mutable_unknown_fields()->AddVarint(6001, 1);
  net.mutable_layers(0)->mutable_layer()->mutable_unknown_fields()->AddVarint(6000, 1);
  const LogLines log;
  CHECK_FALSE(UpgradeNetAsNeeded("net", &net));
  REQUIRE(log.lines().size() == 3);
  CHECK_THAT(log.lines()[0], StartsWith("layer 'p': field 6001, which is unknown, is dropped"));
  CHECK_THAT(log.lines()[1], StartsWith("layer 'p': field 6000, which is unknown, is dropped"));
}

TEST_CASE("the padding of a padding layer goes to all that read it") {
  const std::string data =
      "input: 'd' layers { layer { name: 'p' type: 'padding' pad: 3 } bottom: 'd' top: 'p' }";
  NetParameter folded;
  UpgradeV0PaddingLayers(Make(data + R"(
      layers { layer { type: 'conv' pad: 1 } bottom: 'p' top: 'a' }
      layers { layer { type: 'pool' } bottom: 'p' top: 'b' }
      layers { layer { type: 'padding' pad: 4 } bottom: 'a' top: 'a' }
      layers { layer { type: 'conv' } bottom: 'a' top: 'a' }
      layers { layer { type: 'conv' } bottom: 'a' top: 'c' })"),
                         &folded);
  const NetParameter want = Make(R"(
      layers { layer { type: 'conv' pad: 3 } bottom: 'd' top: 'a' }
      layers { layer { type: 'pool' pad: 3 } bottom: 'd' top: 'b' }
      layers { layer { type: 'conv' pad: 4 } bottom: 'a' top: 'a' }
      layers { layer { type: 'conv' } bottom: 'a' top: 'c' }
      input: 'd')");
  CHECK(Difference(want, folded) == "");
  UpgradeV0PaddingLayers(folded, &folded);
  CHECK(Difference(want, folded) == "");

  CHECK_THAT(UpgradeError(data + "layers { layer { name: 'r' type: 'relu' } bottom: 'p' }"),
             StartsWith("layer 'r': it reads the padding layer 'p' and has type 'relu'"));
  CHECK_THAT(UpgradeError(data + "layers { layer { name: 'c' type: 'conv' } bottom: 'p' bottom: 'd' }"),
             StartsWith("layer 'c': it reads the padding layer 'p' and has 2 bottoms"));
  CHECK_THAT(
      UpgradeError("input: 'd' layers { layer { name: 'p' type: 'padding' } bottom: 'd' top: 'p' top: 'q' }"
                   "layers { layer { type: 'conv' } bottom: 'q' }"),
      StartsWith("layer 'p': this padding layer has 1 bottoms and 2 tops"));
  CHECK_THAT(UpgradeError("layers { layer { name: 'c' type: 'conv' } bottom: 'x' }"),
             StartsWith("layer 'c': its bottom 'x' is no input"));
}

}  // namespace
}  // namespace ferry::testing
