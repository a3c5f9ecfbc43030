// SPDX-License-Identifier: BSD-2-Clause
// What a net is made of, and how it runs.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <fstream>
#include <sstream>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

TEST_CASE("A net has its layers, blobs and parameters in the order of its text") {
  const Net<double> net(NetOf(Classifier()));
  CHECK(net.name() == "classifier");
  CHECK(net.phase() == TEST);
  CHECK(net.layer_names() == std::vector<std::string>{"data", "label", "a", "relu", "b", "loss"});
  CHECK(net.blob_names() == std::vector<std::string>{"data", "label", "a", "b", "loss"});
  CHECK(net.bottom_ids(5) == std::vector<int>{3, 1});
  CHECK(net.top_ids(5) == std::vector<int>{4});
  CHECK_THROWS_AS(net.top_ids(6), std::out_of_range);
  CHECK(net.bottom_vecs()[4][0] == net.blob_by_name("a").get());
  CHECK(net.top_vecs()[3][0] == net.blob_by_name("a").get());
  REQUIRE(net.params().size() == 4);
  CHECK(net.params()[2] == net.layer_by_name("b")->blobs()[0]);
  CHECK(net.learnable_params().size() == 4);
  CHECK(net.param_owners() == std::vector<int>{-1, -1, -1, -1});
  CHECK(net.param_display_names() == std::vector<std::string>{"0", "1", "0", "1"});
  CHECK(net.num_inputs() == 2);
  CHECK(net.input_blobs() == std::vector<Blob<double>*>{net.blobs()[0].get(), net.blobs()[1].get()});
  CHECK(net.input_blob_indices() == std::vector<int>{0, 1});
  CHECK(net.output_blob_indices() == std::vector<int>{4});
}

TEST_CASE("A blob has its name in the net, and a parameter its layer's with a number, or its own") {
  const Net<double> net(NetOf(Classifier("param { name: 'weights' }")));
  CHECK(net.blob_by_name("a")->name() == "a");
  CHECK(net.params()[0]->name() == "weights");
  CHECK(net.params()[1]->name() == "a.1");
  CHECK(net.param_display_names()[0] == "weights");
  CHECK(net.param_names_index() == std::map<std::string, int>{{"weights", 0}});
}

TEST_CASE("What is looked up and is not there is null, with a warning") {
  const Net<double> net(NetOf(Classifier()));
  CHECK(net.has_blob("a"));
  CHECK(net.has_layer("relu"));
  CHECK_FALSE(net.has_blob("relu"));
  CHECK_FALSE(net.has_layer("c"));
  const LogLines log(LogLevel::kInfo);
  CHECK(net.blob_by_name("relu") == nullptr);
  CHECK(net.layer_by_name("c") == nullptr);
  CHECK(log.lines() == std::vector<std::string>{"Unknown blob name relu", "Unknown layer name c"});
}

TEST_CASE("Outputs are what no layer reads, sorted by name") {
  Net<double> net(
      NetOf(Input("data", "2 3") + Product("z", "data", 2) + Product("b", "z", 2) + Product("c", "z", 2)));
  REQUIRE(net.num_outputs() == 2);
  CHECK(net.output_blobs()[0] == net.blob_by_name("b").get());
  CHECK(net.output_blobs()[1] == net.blob_by_name("c").get());
  CHECK(&net.Forward() == &net.output_blobs());
}

TEST_CASE("A blob that several layers read is split, and the gradients of its readers add up") {
  Net<double> net(NetOf(Input("data", "2 3") + Product("z", "data", 2) + Product("b", "z", 2) +
                        Product("c", "z", 2) +
                        "layer { name: 'l' type: 'EuclideanLoss' bottom: 'b' bottom: 'c' top: 'l' }"));
  CHECK(net.has_layer("z_z_0_split"));
  CHECK(net.has_blob("z_z_0_split_1"));
  FillInputs(net);
  net.Forward();
  net.Backward();
  const auto sum = DiffOf(*net.blob_by_name("z"));
  const auto first = DiffOf(*net.blob_by_name("z_z_0_split_0"));
  const auto second = DiffOf(*net.blob_by_name("z_z_0_split_1"));
  for (std::size_t i = 0; i < sum.size(); ++i) CHECK(sum[i] == first[i] + second[i]);
}

TEST_CASE("A layer has the net's phase unless it says one, and rules keep layers out") {
  const std::string text = Input("data", "2 3") +
                           LayerText("ReLU", "a", "data", "a", "include { phase: TRAIN }") +
                           LayerText("ReLU", "b", "data", "b", "exclude { phase: TRAIN }") +
                           LayerText("ReLU", "c", "data", "c", "include { min_level: 2 stage: 's' }") +
                           LayerText("ReLU", "d", "data", "d", "phase: TEST");
  const Net<double> train(NetOf(text), TRAIN);
  CHECK(train.phase() == TRAIN);
  CHECK(train.layer_names() == std::vector<std::string>{"data", "data_data_0_split", "a", "d"});
  CHECK(train.layer_by_name("a")->layer_param().phase() == TRAIN);
  CHECK(train.layer_by_name("d")->layer_param().phase() == TEST);
  const Net<double> test(NetOf("state { level: 2 stage: 's' } " + text));
  CHECK_FALSE(test.has_layer("a"));
  CHECK(test.has_layer("b"));
  CHECK(test.has_layer("c"));
  NetParameter filtered;
  Net<double>::FilterNet(NetOf(text), &filtered);
  CHECK(filtered.layer_size() == 3);
  CHECK(Net<double>::StateMeetsRule(NetOf("state { level: 2 }").state(), NetStateRule(), "x"));
}

TEST_CASE("A net of a file has the phase, the level and the stages that it is told") {
  const Folder folder;
  std::ofstream(folder / "net.prototxt")
      << "state { level: 9 stage: 'own' }\ninput: 'data' input_dim: 1 input_dim: 2 input_dim: 3 input_dim: "
         "4\n"
      << LayerText("ReLU", "level", "data", "level", "include { max_level: 3 }")
      << LayerText("ReLU", "stage", "data", "stage", "include { stage: 'own' stage: 's' min_level: 3 }")
      << LayerText("ReLU", "train", "data", "train", "include { phase: TRAIN }");
  const std::vector<std::string> stages{"s"};
  const Net<double> all(folder / "net.prototxt", TRAIN, 3, &stages);
  CHECK(all.has_layer("level"));
  CHECK(all.has_layer("stage"));
  CHECK(all.has_layer("train"));
  CHECK(all.input_blobs()[0]->shape() == Shape{1, 2, 3, 4});
  const World world("sim main");
  const Net<double> few(folder / "net.prototxt", TEST, world.place());
  CHECK(few.has_layer("level"));  // the file's level is not this one's
  CHECK_FALSE(few.has_layer("stage"));
  CHECK_FALSE(few.has_layer("train"));
  CHECK(&few.blobs()[0]->device() == &world.device());
}

TEST_CASE("Blobs and parameters are on the device of the place") {
  const World world("sim main");
  const Net<double> net(NetOf(Classifier()), world.place());
  for (const auto& blob : net.blobs()) CHECK(&blob->device() == &world.device());
  for (const auto& param : net.params()) CHECK(&param->device() == &world.device());
  for (const auto& layer : net.layers()) CHECK(layer->place().side() == Side::kGpu);
  NetParameter with_weights;
  net.ToProto(&with_weights);
  const Net<double> again(with_weights, world.place());
  for (const auto& param : again.params()) CHECK(&param->device() == &world.device());
  CHECK(DataOf(*again.params()[0]) == DataOf(*net.params()[0]));
}

TEST_CASE("A loss without a top gets one that no other layer can read") {
  Net<double> net(NetOf(Input("x", "2 3") + Input("y", "2 3") +
                        "layer { name: 'l' type: 'EuclideanLoss' bottom: 'x' bottom: 'y' }"));
  CHECK(net.blob_names().back() == "(automatic)");
  CHECK(net.num_outputs() == 0);
  Fill(*net.blob_by_name("x"), 1);
  double loss = 0;
  net.Forward(&loss);
  CHECK(loss > 0);
}

TEST_CASE("The loss is the sum of blobs times their loss weights") {
  const std::string text = Input("data", "4 3") + Product("a", "data", 1, "loss_weight: 2");
  Net<double> net(NetOf(text));
  FillInputs(net);
  double loss = 0;
  net.Forward(&loss);
  double sum = 0;
  for (const double value : DataOf(*net.blob_by_name("a"))) sum += value;
  CHECK(loss == Catch::Approx(2 * sum));
  CHECK(net.blob_loss_weights() == std::vector<double>{0, 2});
  net.Backward();
  CHECK(DiffOf(*net.params()[1])[0] == 8);  // four rows
}

TEST_CASE("A pass in parts is a pass") {
  Net<double> net(NetOf(Classifier()), DefaultPlace(), RandomSeed{1});
  FillInputs(net);
  double loss = 0;
  net.Forward(&loss);
  net.Backward();
  const auto gradient = DiffOf(*net.params()[0]);
  net.ClearParamDiffs();
  for (const auto* param : net.learnable_params()) CHECK(param->asum_diff() == 0);
  CHECK(net.ForwardTo(3) + net.ForwardFromTo(4, 4) + net.ForwardFrom(5) == loss);
  net.BackwardTo(4);
  CHECK(net.params()[0]->asum_diff() == 0);
  net.BackwardFromTo(3, 3);
  net.BackwardFrom(2);
  CHECK(DiffOf(*net.params()[0]) == gradient);
  CHECK(net.ForwardFromTo(3, 2) == 0);
}

TEST_CASE("A net takes copies of the blobs that it is run with") {
  Net<double> net(NetOf(Classifier()));
  Blob<double> data({4, 3});
  Blob<double> label({4});
  Fill(data, 9);
  double loss = 0;
  net.Forward({&data, &label}, &loss);
  CHECK(DataOf(*net.blob_by_name("data")) == DataOf(data));
  CHECK(loss > 0);
}

TEST_CASE("A net follows its inputs to other shapes") {
  Net<double> net(NetOf(Classifier()));
  net.blob_by_name("data")->Reshape({6, 3});
  net.blob_by_name("label")->Reshape({6});
  net.Reshape();
  CHECK(net.blob_by_name("b")->shape() == Shape{6, 2});
  net.blob_by_name("data")->Reshape({2, 3});
  net.blob_by_name("label")->Reshape({2});
  FillInputs(net);
  net.ForwardBackward();  // it asks for the shapes itself
  CHECK(net.blob_by_name("b")->shape() == Shape{2, 2});
}

TEST_CASE("A net keeps its loss weights through smaller shapes") {
  Net<double> net(
      NetOf(Input("data", "4") + LayerText("Power", "power", "data", "loss", "loss_weight: 0.5")));
  double before = 0;
  double after = 0;
  Fill(*net.blob_by_name("data"), 3);
  net.Forward(&before);
  for (const std::int64_t count : {2, 4}) {
    net.blob_by_name("data")->Reshape({count});
    net.Reshape();
  }
  Fill(*net.blob_by_name("data"), 3);
  net.Forward(&after);
  CHECK(before > 0);
  CHECK(after == before);
}

TEST_CASE("A net moves to another place of its device, and to no other device") {
  const World world("sim main");
  Net<double> net(NetOf(Classifier()), world.place());
  FillInputs(net);
  double there = 0;
  double here = 0;
  net.Forward(&there);
  net.set_place(Place::Cpu(world.device()));
  CHECK(net.place().side() == Side::kCpu);
  CHECK(net.layers()[2]->place().side() == Side::kCpu);
  net.Forward(&here);
  CHECK(here == Catch::Approx(there));
  const auto other = MakeDevice("host");
  CHECK(ErrorOf([&] { net.set_place(Place(*other)); }).find("another, host:0") != std::string::npos);
  CHECK(&net.place().device() == &world.device());
}

TEST_CASE("With debug_info the log has means of absolute values in Caffe's words") {
  Net<double> net(NetOf("debug_info: true " + Classifier("param { name: 'w' }")));
  FillInputs(net);
  const LogLines log(LogLevel::kInfo);
  net.ForwardBackward();
  CHECK(log.Has("    [Forward] Layer a, top blob a data: "));
  CHECK(log.Has("    [Forward] Layer a, param blob w data: "));
  CHECK(log.Has("    [Forward] Layer b, param blob 1 data: "));
  CHECK(log.Has("    [Backward] Layer b, bottom blob a diff: "));
  CHECK(log.Has("    [Backward] Layer a, param blob 0 diff: "));
  CHECK_FALSE(log.Has("[Backward] Layer a, bottom"));
  CHECK(log.Has("    [Backward] All net params (data, diff): L1 norm = ("));
  std::ostringstream mean;
  mean << net.params()[1]->asum_data() / 5;
  CHECK(log.Has("Layer a, param blob 1 data: " + mean.str()));
  const std::size_t lines = log.lines().size();
  net.set_debug_info(false);
  net.ForwardBackward();
  CHECK(log.lines().size() == lines);
}

TEST_CASE("A net without layers runs") {
  Net<double> net((NetParameter()));
  double loss = 1;
  CHECK(net.Forward(&loss).empty());
  CHECK(loss == 0);
  CHECK_NOTHROW(net.Backward());
}

}  // namespace
}  // namespace ferry::nets_test
