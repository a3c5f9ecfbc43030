// SPDX-License-Identifier: BSD-2-Clause
// One net at every place.
#include <cmath>

#include "tests/nets/lenet.hpp"
#include "tests/worst.hpp"

namespace ferry::nets_test {
namespace {

struct Result {
  double loss;
  std::vector<std::vector<float>> data, diff;
};

/// A few iterations of plain descent.
Result Train(const std::string& where) {
  const World world(where);
  Net<float> net(NetOf(LeNet()), TRAIN, world.place(), RandomSeed{5});
  double loss = 0;
  for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
    FillBatch(net, iteration);
    net.ClearParamDiffs();
    loss = static_cast<double>(net.ForwardBackward());
    for (Blob<float>* param : net.learnable_params()) Scale(world.place(), 0.01F, Diff(*param));
    net.Update();
  }
  Result result{loss, {}, {}};
  for (const auto& blob : net.blobs()) result.data.push_back(DataOf(*blob));
  for (const auto& param : net.params()) {
    result.data.push_back(DataOf(*param));
    result.diff.push_back(DiffOf(*param));
  }
  return result;
}

void CheckNear(const std::vector<std::vector<float>>& values,
               const std::vector<std::vector<float>>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(values[i].size() == expected[i].size());
    float largest = 0;
    ferry::testing::Worst worst;
    for (std::size_t k = 0; k < values[i].size(); ++k) {
      largest = std::max(largest, std::abs(expected[i][k]));
      worst.Take(std::abs(values[i][k] - expected[i][k]));
    }
    INFO("array " << i);
    CHECK(worst.difference() <= 1e-5F * largest);
  }
}

TEST_CASE("A net trains to the same parameters at every place") {
  const Result host = Train("host cpu");
  CHECK(host.loss > 0);
  const std::string where = ferry::testing::Everywhere();
  INFO(where);
  const Result there = Train(where);
  CHECK(std::abs(there.loss - host.loss) <= 1e-5 * host.loss);
  CheckNear(there.data, host.data);
  CheckNear(there.diff, host.diff);
}

TEST_CASE("A net trains to the same bits twice") {
  const std::string where = ferry::testing::Everywhere();
  INFO(where);
  const Result one = Train(where);
  const Result two = Train(where);
  CHECK(one.loss == two.loss);
  CHECK(one.data == two.data);
  CHECK(one.diff == two.diff);
}

LayerParameter AsReLU(LayerParameter param) {
  param.set_type("ReLU");
  return param;
}
std::shared_ptr<Layer<float>> ByAnotherCreator(const LayerParameter& param) {
  return LayerRegistry<float>::CreateLayer(AsReLU(param));
}
std::shared_ptr<Layer<float>> FromElsewhere(const LayerParameter& param) {
  return LayerRegistry<float>::CreateLayer(AsReLU(param), Place(GetDevice("host")));
}

// CTest runs it with a FERRY_DEVICE that is none, too.
TEST_CASE("A net uses its place's device and no other", "[no-gpu]") {
  const World world("sim stream");
  LayerRegistry<float>::AddCreator("ByAnotherCreator", ByAnotherCreator);
  LayerRegistry<float>::AddCreator("FromElsewhere", FromElsewhere);
  const std::string more = R"(
      layer { name: "norm" type: "LRN" bottom: "pool1" top: "norm" }
      layer { name: "one" type: "ByAnotherCreator" bottom: "norm" top: "one" }
      layer { name: "two" type: "FromElsewhere" bottom: "one" top: "two" })";
  const auto check = [&](const Net<float>& net) {
    for (const auto& layer : net.layers()) {
      CHECK(&layer->place().device() == &world.device());
      CHECK(layer->place().side() == Side::kGpu);
      for (const auto& blob : layer->blobs()) CHECK(&blob->device() == &world.device());
    }
  };
  NetParameter with_weights;
  Net<float> filled(NetOf(LeNet() + more), TRAIN, world.place());
  check(filled);
  filled.ToProto(&with_weights);
  Net<float> net(with_weights, TRAIN, world.place());
  check(net);
  FillBatch(net, 1);
  CHECK(net.ForwardBackward() > 0);
}

}  // namespace
}  // namespace ferry::nets_test
