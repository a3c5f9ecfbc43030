// SPDX-License-Identifier: BSD-2-Clause
// What a training iteration asks of a device once all buffers are there.
#include "ferry/statistics_device.hpp"
#include "tests/nets/lenet.hpp"

namespace ferry::nets_test {
namespace {

/// One iteration: a batch from the host, both passes, and a step down.
void Iterate(Net<float>& net, std::uint64_t iteration) {
  for (Blob<float>* input : net.input_blobs()) Fill(*input, iteration);
  if (net.has_blob("label")) FillLabels(*net.blob_by_name("label"), 2);
  net.ClearParamDiffs();
  net.ForwardBackward();
  for (Blob<float>* param : net.learnable_params()) Scale(net.place(), 0.01F, Diff(*param));
  net.Update();
}

/// What an iteration does after three others, on a stream of the simulated GPU.
Statistics SteadyIteration(const std::string& text) {
  const World world("sim stream");
  Net<float> net(NetOf(text), TRAIN, world.place(), RandomSeed{1});
  std::uint64_t iteration = 0;
  while (iteration < 3) Iterate(net, iteration++);
  const Statistics before = GetStatistics(world.device());
  Iterate(net, iteration);
  return GetStatistics(world.device()) - before;
}

std::uint64_t BytesOfInputs(const std::string& text) {
  const Net<float> net(NetOf(text), TRAIN);
  std::int64_t count = 0;
  for (const Blob<float>* input : net.input_blobs()) count += input->count();
  return static_cast<std::uint64_t>(count) * sizeof(float);
}

/// The batch goes up, the loss comes down.
void CheckSteady(const std::string& text, std::uint64_t inputs) {
  const Statistics steady = SteadyIteration(text);
  CHECK(steady.host_to_device.count == inputs);
  CHECK(steady.host_to_device.bytes == BytesOfInputs(text));
  CHECK(steady.device_to_host.count <= 1);
  CHECK(steady.device_to_host.bytes <= sizeof(double));
  CHECK(steady.allocations.count == 0);
}

TEST_CASE("A training iteration copies its batch up and its loss down, and allocates nothing") {
  CheckSteady(LeNet(), 2);
}

/// A layer of each type that computes: between two products, so that it has a gradient to both sides. `more`
/// is its parameters.
std::string Between(const std::string& type, const std::string& more = "") {
  return Input("x", "3 2 5 5") + Convolution("first", "x", 4) + LayerText(type, "it", "first", "it", more) +
         Product("last", "it", 2, "loss_weight: 1");
}
/// The same on a matrix of 4 x 6.
std::string BetweenMatrices(const std::string& layer, const std::string& top = "it") {
  return Input("x", "4 5") + Input("label", "4") + Product("first", "x", 6) + layer +
         (top.empty() ? "" : Product("last", top, 2, "loss_weight: 1"));
}
std::string Loss(const std::string& type, const std::string& more = "") {
  return BetweenMatrices(
      "layer { name: 'it' type: '" + type + "' bottom: 'first' bottom: 'label' top: 'it' " + more + " }", "");
}
std::string TwoBottoms(const std::string& type, const std::string& more = "") {
  return Input("x", "4 5") + Product("first", "x", 6) + Product("second", "x", 6) +
         "layer { name: 'it' type: '" + type + "' bottom: 'first' bottom: 'second' top: 'it' " + more + " }" +
         Product("last", "it", 2, "loss_weight: 1");
}

struct Row {
  const char* type;
  std::string text;
};

std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (const char* type :
       {"AbsVal", "BNLL", "BatchNorm", "Bias", "Dropout", "ELU", "LRN", "MVN", "PReLU", "Power", "ReLU",
        "Scale", "Sigmoid", "Softmax", "Split", "Swish", "TanH", "Exp", "Flatten"})
    rows.push_back({type, Between(type)});
  rows.push_back({"Clip", Between("Clip", "clip_param { min: -1 max: 1 }")});
  rows.push_back(
      {"Convolution", Between("Convolution", "convolution_param { num_output: 2 kernel_size: 2 }")});
  rows.push_back(
      {"Deconvolution", Between("Deconvolution", "convolution_param { num_output: 2 kernel_size: 2 }")});
  rows.push_back({"Im2col", Between("Im2col", "convolution_param { kernel_size: 2 }")});
  rows.push_back({"InnerProduct", Between("InnerProduct", "inner_product_param { num_output: 2 }")});
  rows.push_back({"Log", Between("Log", "log_param { shift: 100 }")});
  rows.push_back({"Pooling", Between("Pooling", "pooling_param { kernel_size: 2 }")});
  rows.push_back({"Pooling", Between("Pooling", "pooling_param { pool: AVE kernel_size: 2 }")});
  rows.push_back({"Pooling", Between("Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 2 }")});
  rows.push_back({"LRN", Between("LRN", "lrn_param { norm_region: WITHIN_CHANNEL }")});
  rows.push_back({"Reduction", Between("Reduction", "reduction_param { axis: 1 }")});
  rows.push_back({"Reshape", Between("Reshape", "reshape_param { shape { dim: 0 dim: -1 } }")});
  rows.push_back({"SPP", Between("SPP", "spp_param { pyramid_height: 2 }")});
  rows.push_back({"Slice", Between("Slice")});
  rows.push_back({"Tile", Between("Tile", "tile_param { tiles: 2 }")});
  rows.push_back({"Concat", TwoBottoms("Concat")});
  rows.push_back({"Crop", TwoBottoms("Crop", "crop_param { axis: 1 }")});
  for (const char* operation : {"PROD", "SUM", "MAX"})
    rows.push_back(
        {"Eltwise", TwoBottoms("Eltwise", "eltwise_param { operation: " + std::string(operation) + " }")});
  rows.push_back({"EuclideanLoss", TwoBottoms("EuclideanLoss", "loss_weight: 1")});
  for (const char* type : {"HingeLoss", "MultinomialLogisticLoss", "SoftmaxWithLoss"})
    rows.push_back({type, Loss(type)});
  return rows;
}

TEST_CASE("Layers of each type leave their data where it is, and allocate nothing") {
  for (const Row& row : Rows()) {
    INFO(row.type << ": " << row.text);
    const Net<float> net(NetOf(row.text));
    CHECK_NOTHROW(CheckSteady(row.text, static_cast<std::uint64_t>(net.num_inputs())));
  }
}

}  // namespace
}  // namespace ferry::nets_test
