// SPDX-License-Identifier: BSD-2-Clause
// Which layers, bottoms and parameters get a gradient.
#include <algorithm>
#include <catch2/catch_approx.hpp>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

TEST_CASE("Without a loss nothing needs a gradient") {
  const Net<double> net(NetOf(Input("data", "2 3") + Product("a", "data", 2)));
  CHECK(net.layer_need_backward() == std::vector<bool>{false, false});
  CHECK(net.bottom_need_backward()[1] == std::vector<bool>{false});
}

TEST_CASE("Gradients go from a loss to the first parameter that learns, and no further") {
  SECTION("all learn") {
    const Net<double> net(NetOf(Classifier()));
    CHECK(net.layer_need_backward() == std::vector<bool>{false, false, true, true, true, true});
    CHECK(net.bottom_need_backward()[2] == std::vector<bool>{false});
    CHECK(net.bottom_need_backward()[4] == std::vector<bool>{true});
    CHECK(net.bottom_need_backward()[5] == std::vector<bool>{true, false});
    CHECK(net.layer_by_name("a")->param_propagate_down(1));
  }
  SECTION("a rate of 0 freezes a parameter, and all of a layer's the layer") {
    const Net<double> net(NetOf(Classifier("param { lr_mult: 0 } param { lr_mult: 0 }")));
    CHECK(net.layer_need_backward() == std::vector<bool>{false, false, false, false, true, true});
    CHECK(net.bottom_need_backward()[4] == std::vector<bool>{false});
    CHECK_FALSE(net.layer_by_name("a")->param_propagate_down(1));
  }
  SECTION("propagate_down: false cuts a net") {
    const Net<double> net(NetOf(Classifier("", "propagate_down: false propagate_down: false")));
    CHECK(net.layer_need_backward() == std::vector<bool>{false, false, false, false, false, true});
  }
  SECTION("what leads to no loss is left out") {
    const Net<double> net(NetOf(Classifier() + Product("side", "a", 2)));
    const auto at = static_cast<std::size_t>(
        std::find(net.layer_names().begin(), net.layer_names().end(), "side") - net.layer_names().begin());
    CHECK_FALSE(net.layer_need_backward()[at]);
    CHECK(net.layer_need_backward()[2]);
  }
}

TEST_CASE("What the net's text says of rates decides on gradients, not what a layer says of its own") {
  const std::string data = Input("data", "4 2") + Input("label", "4");
  const std::string rest =
      Product("a", "bn", 3) + "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'a' bottom: 'label' }";
  SECTION("BatchNorm says 0, and is differentiated as Caffe does") {
    const Net<double> net(NetOf(data + LayerText("BatchNorm", "bn", "data", "bn") + rest));
    CHECK(net.layer_need_backward() == std::vector<bool>{false, false, true, true, true});
    CHECK(net.bottom_need_backward()[2] == std::vector<bool>{false});
    CHECK(net.bottom_need_backward()[3] == std::vector<bool>{true});
    CHECK(net.layer_by_name("bn")->param_propagate_down(0));
    CHECK(net.params_lr()[0] == 0);
  }
  SECTION("the text says it") {
    const std::string frozen = "param { lr_mult: 0 } ";
    const Net<double> net(
        NetOf(data + LayerText("BatchNorm", "bn", "data", "bn", frozen + frozen + frozen) + rest));
    CHECK(net.layer_need_backward() == std::vector<bool>{false, false, false, true, true});
    CHECK_FALSE(net.layer_by_name("bn")->param_propagate_down(0));
  }
}

TEST_CASE("force_backward reaches the inputs, and leaves out what a layer does not allow") {
  Net<double> net(NetOf("force_backward: true " + Classifier("param { lr_mult: 0 } param { lr_mult: 0 }")));
  CHECK(net.layer_need_backward() == std::vector<bool>(6, true));
  CHECK(net.bottom_need_backward()[2] == std::vector<bool>{true});
  CHECK(net.bottom_need_backward()[5] == std::vector<bool>{true, false});
  CHECK(net.layer_by_name("a")->param_propagate_down(0));
  FillInputs(net);
  net.ForwardBackward();
  CHECK(net.blob_by_name("data")->asum_diff() > 0);
}

TEST_CASE("Gradients add up until they are cleared, and an update takes them away") {
  Net<double> net(NetOf(Classifier()));
  FillInputs(net);
  net.ForwardBackward();
  const auto once = DiffOf(*net.params()[0]);
  net.ForwardBackward();
  auto data = DataOf(*net.params()[0]);
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(DiffOf(*net.params()[0])[i] == Catch::Approx(2 * once[i]));
    data[i] -= DiffOf(*net.params()[0])[i];
  }
  net.Update();
  CHECK(DataOf(*net.params()[0]) == data);
}

/// The gradient of the weights of "ip", after whose Forward its values become positive, in place or apart.
std::vector<double> GradientWith(const std::string& loss, bool in_place) {
  const std::string bottoms = Input("data", "3 2") + Input("other", "3 4") + Input("label", "3");
  const std::string after =
      "layer { name: 'f' type: 'Flatten' bottom: 'ip' top: 'f' }"
      "layer { name: 'relu' type: 'ReLU' bottom: 'f' top: '" +
      std::string(in_place ? "f" : "g") + "' }";
  Net<double> net(NetOf(bottoms + Product("ip", "data", 4) + loss + after));
  const std::vector<double> numbers{-0.9, 0.3, 0.8, -0.2, 0.6, -0.5, 0.4, -0.7, 0.1, 0.9, -0.3, 0.2};
  const auto fill = [&](Blob<double>& blob) {
    std::copy_n(numbers.begin(), blob.count(), blob.mutable_cpu_data());
  };
  fill(*net.blob_by_name("data"));
  fill(*net.blob_by_name("other"));
  for (int i = 0; i < 3; ++i) net.blob_by_name("label")->mutable_cpu_data()[i] = i % 2;
  const auto& params = net.layer_by_name("ip")->blobs();
  for (const auto& param : params) fill(*param);
  net.ForwardBackward();
  return {params[0]->cpu_diff(), params[0]->cpu_diff() + params[0]->count()};
}

// Caffe's layers keep what they need.
TEST_CASE("A bottom may be overwritten between the passes, where the layer keeps it in Caffe") {
  const auto layer = [](const std::string& name, const std::string& type, const std::string& bottoms) {
    return "layer { name: '" + name + "' type: " + type + bottoms + " top: '" + name + "' }";
  };
  const std::string bn = "'BatchNorm' batch_norm_param { use_global_stats: false }";
  const std::string contrastive = "'ContrastiveLoss' contrastive_loss_param { margin: 4 }";
  const std::string both = " bottom: 'ip' bottom: 'other'", labelled = " bottom: 'ip' bottom: 'label'";
  const std::vector<std::string> layers = {
      layer("loss", "'EuclideanLoss'", both),
      layer("loss", "'EuclideanLoss'", " bottom: 'other' bottom: 'ip'"),
      layer("loss", contrastive, both + " bottom: 'label'"),
      layer("loss", "'HingeLoss'", labelled),
      layer("loss", "'HingeLoss' hinge_loss_param { norm: L2 }", labelled),
      layer("bn", bn, " bottom: 'ip'") + layer("loss", "'EuclideanLoss'", " bottom: 'bn' bottom: 'other'")};
  for (const std::string& loss : layers) {
    INFO(loss);
    CHECK(GradientWith(loss, true) == GradientWith(loss, false));
  }
}

TEST_CASE("A Flatten passes its gradient down, and to a Parameter unless it is told not to") {
  for (const std::string says : {"", "propagate_down: true", "propagate_down: false"}) {
    INFO(says);
    Net<double> net(
        NetOf("layer { name: 'w' type: 'Parameter' top: 'w' parameter_param { shape { dim: 2 dim: 3 } } }"
              "layer { name: 'f' type: 'Flatten' bottom: 'w' top: 'f' " +
              says +
              "} layer { name: 'ip' type: 'InnerProduct' bottom: 'f' top: 'ip' propagate_down: true "
              "inner_product_param { num_output: 2 weight_filler { value: 1 } } }"
              "layer { name: 'sum' type: 'Reduction' bottom: 'ip' top: 'sum' loss_weight: 1 }"));
    net.ForwardBackward();
    CHECK(net.blob_by_name("f")->asum_diff() == 12);
    CHECK(net.blob_by_name("w")->asum_diff() == 12);
    CHECK(net.learnable_params()[0]->asum_diff() == (says == "propagate_down: false" ? 0 : 12));
  }
}

// As in Caffe, where such a Flatten gives its bottom the diff of its top.
TEST_CASE("What another layer, or force_backward, has go down past a Flatten takes its gradient along") {
  const auto bias = [](const std::string& rest, bool force) {
    NetParameter param =
        NetOf(Input("d", "2 3") + Product("w", "d", 3) +
              "layer { name: 'f' type: 'Flatten' bottom: 'w' top: 'f' propagate_down: false }"
              "layer { name: 'sum' type: 'Reduction' bottom: 'f' top: 'sum' loss_weight: 1 }" +
              rest);
    param.set_force_backward(force);
    Net<double> net(param);
    net.ForwardBackward();
    net.ClearParamDiffs();
    net.Backward();  // once more: the diffs are shared by now
    return DiffOf(*net.layer_by_name("w")->blobs()[1]);
  };
  const std::string beside = "layer { name: 'too' type: 'Reduction' bottom: 'w' top: 'too' loss_weight: 1 }";
  CHECK(bias("", false) == std::vector<double>{0, 0, 0});
  CHECK(bias("", true) == std::vector<double>{2, 2, 2});
  CHECK(bias(beside, false) == std::vector<double>{4, 4, 4});
}

}  // namespace
}  // namespace ferry::nets_test
