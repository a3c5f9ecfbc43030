// SPDX-License-Identifier: BSD-2-Clause
// What a training iteration asks of a device once all buffers are there.
#include <algorithm>
#include <set>

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

std::uint64_t BytesOfInputs(const Net<float>& net) {
  std::int64_t count = 0;
  for (const Blob<float>* input : net.input_blobs()) count += input->count();
  return static_cast<std::uint64_t>(count) * sizeof(float);
}

/// At most the batch goes up and the loss comes down.
void CheckSteady(const Statistics& steady, const Net<float>& net) {
  CHECK(steady.host_to_device.count <= static_cast<std::uint64_t>(net.num_inputs()));
  CHECK(steady.host_to_device.bytes <= BytesOfInputs(net));
  CHECK(steady.device_to_host.count <= 1);
  CHECK(steady.device_to_host.bytes <= sizeof(double));
  CHECK(steady.allocations.count == 0);
}

TEST_CASE("A training iteration copies its batch up and its loss down, and allocates nothing") {
  const Statistics steady = SteadyIteration(LeNet());
  const Net<float> net(NetOf(LeNet()));
  CheckSteady(steady, net);
  CHECK(steady.host_to_device.count == 2);
  CHECK(steady.host_to_device.bytes == BytesOfInputs(net));
}

/// What a layer's bottoms are in the nets below: two products and what they are made of.
std::string Sources(const std::string& label = "4") {
  return Input("x", "4 5") + Input("label", label) + Product("first", "x", 6) + Product("second", "x", 6);
}
/// A layer "it".
std::string It(const std::string& type, const std::string& bottoms, const std::string& more) {
  return "layer { name: 'it' type: '" + type + "' " + bottoms + " top: 'it' " + more + " }\n";
}
const std::string kFirst = "bottom: 'first' ";
const std::string kBoth = kFirst + "bottom: 'second' ";
const std::string kLabelled = kFirst + "bottom: 'label' ";

/// Makes the top a loss, by way of another product.
std::string ThenLoss() { return Product("last", "it", 2, "loss_weight: 1"); }

/// On images: between a convolution and a product, so that it has a gradient to both sides.
std::string OnImages(const std::string& type, const std::string& more = "") {
  return Input("x", "3 2 5 5") + Convolution("first", "x", 4) + It(type, kFirst, more) + ThenLoss();
}

struct Row {
  std::string type;
  std::string text;
};

void AddOnImages(std::vector<Row>& rows) {
  for (const char* type :
       {"AbsVal", "BNLL",  "BatchNorm", "Bias",  "Dropout", "ELU",   "LRN",   "MVN",  "PReLU", "Power",
        "ReLU",   "Scale", "Sigmoid",   "Slice", "Softmax", "Split", "Swish", "TanH", "Exp",   "Flatten"})
    rows.push_back({type, OnImages(type)});
  const auto add = [&](const char* type, const char* more) { rows.push_back({type, OnImages(type, more)}); };
  add("Clip", "clip_param { min: -1 max: 1 }");
  add("Convolution", "convolution_param { num_output: 2 kernel_size: 2 }");
  add("Deconvolution", "convolution_param { num_output: 2 kernel_size: 2 }");
  add("Im2col", "convolution_param { kernel_size: 2 }");
  add("InnerProduct", "inner_product_param { num_output: 2 }");
  add("LRN", "lrn_param { norm_region: WITHIN_CHANNEL }");
  add("Log", "log_param { shift: 100 }");
  add("PReLU", "prelu_param { channel_shared: true }");
  add("Pooling", "pooling_param { kernel_size: 2 }");
  add("Pooling", "pooling_param { pool: AVE kernel_size: 2 }");
  add("Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 2 }");
  add("Reshape", "reshape_param { shape { dim: 0 dim: -1 } }");
  add("SPP", "spp_param { pyramid_height: 2 }");
  add("Tile", "tile_param { tiles: 2 }");
}

void AddOnMatrices(std::vector<Row>& rows) {
  const auto add = [&](const char* type, const std::string& bottoms, const std::string& more = "") {
    rows.push_back({type, Sources() + It(type, bottoms, more) + ThenLoss()});
  };
  add("Concat", kBoth);
  add("Crop", kBoth, "crop_param { axis: 1 }");
  add("DummyData", "", "dummy_data_param { shape { dim: 4 dim: 6 } }");
  for (const char* operation : {"PROD", "SUM", "MAX"})
    add("Eltwise", kBoth, "eltwise_param { operation: " + std::string(operation) + " }");
  add("Embed", "bottom: 'label'", "embed_param { num_output: 3 input_dim: 2 }");
  add("Parameter", "", "parameter_param { shape { dim: 4 dim: 6 } }");
  const auto add_last = [&](const char* type, const std::string& bottoms, const std::string& more = "") {
    rows.push_back({type, Sources() + It(type, bottoms, more)});
  };
  add_last("Accuracy", kLabelled);
  add_last("ArgMax", kFirst);
  add_last("ContrastiveLoss", kBoth + "bottom: 'label'");
  add_last("EuclideanLoss", kBoth, "loss_weight: 1");
  for (const char* type : {"HingeLoss", "MultinomialLogisticLoss", "SoftmaxWithLoss"})
    add_last(type, kLabelled);
  add_last("Reduction", kFirst, "loss_weight: 1");
  add_last("SigmoidCrossEntropyLoss", kFirst + "bottom: 'x6'");
  rows.back().text = Input("x6", "4 6") + rows.back().text;
  add_last("InfogainLoss", kLabelled + "bottom: 'h'");
  rows.back().text = Input("h", "1 1 6 6") + rows.back().text;
  add_last("Threshold", kFirst);
  rows.push_back({"Silence", Sources() + "layer { name: 'it' type: 'Silence' bottom: 'first' }"});
}

void AddOnSequences(std::vector<Row>& rows) {
  for (const char* type : {"LSTM", "RNN"})
    rows.push_back({type, Input("x", "3 2 5") + Input("label", "3 2") +
                              It(type, "bottom: 'x' bottom: 'label'",
                                 "recurrent_param { num_output: 4 weight_filler { type: 'xavier' } }") +
                              ThenLoss()});
  rows.push_back({"LSTMUnit", "force_backward: true " + Input("c", "1 2 3") + Input("g", "1 2 12") +
                                  Input("label", "1 2") +
                                  It("LSTMUnit", "bottom: 'c' bottom: 'g' bottom: 'label' top: 'c1'", "") +
                                  ThenLoss()});
}

std::vector<Row> Rows() {
  std::vector<Row> rows;
  AddOnImages(rows);
  AddOnMatrices(rows);
  AddOnSequences(rows);
  return rows;
}

TEST_CASE("Layers of each type leave their data where it is, and allocate nothing") {
  for (const Row& row : Rows()) {
    INFO(row.type);
    const Net<float> net(NetOf(row.text));
    CHECK_NOTHROW(CheckSteady(SteadyIteration(row.text), net));
  }
}

TEST_CASE("Each type of layer is tested to leave its data where it is, or reads or writes it on the host") {
  const std::vector<Row> rows = Rows();
  std::set<std::string> missing;
  for (const std::string& type : LayerRegistry<float>::LayerTypeList())
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.type == type; }))
      missing.insert(type);
  for (const char* of_tests : {"ByAnotherCreator", "FromElsewhere", "Key", "Lending", "Throwing"})
    missing.erase(of_tests);
  CHECK(missing == std::set<std::string>{"BatchReindex", "Data", "Filter", "HDF5Data", "HDF5Output",
                                         "ImageData", "Input", "MemoryData"});
}

}  // namespace
}  // namespace ferry::nets_test
