// SPDX-License-Identifier: BSD-2-Clause
// What a net says of a loss that is not-a-number.
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "ferry/transfer_guard.hpp"
#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("What makes the loss not-a-number on a GPU is named, whatever copies are refused") {
  const World world("sim stream");
  const std::string layers =  // on the device alone are 'of_row' and 'class'
      LayerText("Power", "p", "index", "of_row") + LayerText("Power", "q", "label", "class") +
      "layer { name: 'table' type: 'Embed' bottom: 'of_row' top: 'row'"
      " embed_param { num_output: 3 input_dim: 4 weight_filler { type: 'xavier' } } }"
      "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'row' bottom: 'class' top: 'loss' }";
  Net<double> net(NetOf(Input("index", "2") + Input("label", "2") + layers), TRAIN, world.place());
  const auto error_of = [&](double index, double label) {
    const auto set = [&](const char* blob, double value) {
      net.blob_by_name(blob)->mutable_cpu_data()[0] = value;
      net.blob_by_name(blob)->gpu_data(world.stream());
    };
    set("index", index);
    set("label", label);
    return ErrorOf([&] {
      const TransferGuard guard(TransferPolicy::kThrow);
      const double loss = net.ForwardBackward();
      CHECK_FALSE(std::isnan(loss));
    });
  };
  net.ForwardBackward();  // all is on the device
  CHECK(error_of(1, 1) == "");
  CHECK_THAT(error_of(4, 1), ContainsSubstring("'table'") && ContainsSubstring("position 0 of 'of_row'"));
  CHECK_THAT(ErrorOf([&] { net.Backward(); }), ContainsSubstring("failed in layer 'table'"));
  CHECK_THAT(error_of(1, 3), ContainsSubstring("'loss'") && ContainsSubstring("position 0 of 'class'"));
  CHECK(error_of(1, 1) == "");
}

// Where bottoms share storage, those of the first layers are gone at the end of a pass.
TEST_CASE("A loss that is not-a-number with right labels is returned") {
  const std::string text =
      "layer { name: 'slice' type: 'Slice' bottom: 'both' top: 'label' top: 'other' slice_param { axis: 0 } }"
      "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'label' top: 'loss' }" +
      LayerText("Power", "larger", "other", "larger", "power_param { shift: 1000 }") +
      LayerText("Power", "last", "larger", "last", "power_param { shift: 1000 }");
  for (const std::string where : {"host cpu", "sim stream"})
    for (const bool shared : {false, true}) {
      INFO(where << (shared ? ", shared" : ""));
      const World world(where);
      Net<double> net(NetOf(Input("x", "2 3") + Input("both", "4") + text), TEST, world.place());
      if (shared) net.share_activations();
      net.blob_by_name("x")->mutable_cpu_data()[0] = std::nan("");
      double loss = 0;
      net.Forward(&loss);
      CHECK(std::isnan(loss));
      net.blob_by_name("both")->mutable_cpu_data()[0] = 3;
      CHECK_THAT(ErrorOf([&] { net.Forward(&loss); }), ContainsSubstring("'loss'"));
    }
}

}  // namespace
}  // namespace ferry::nets_test
