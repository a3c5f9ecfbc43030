// SPDX-License-Identifier: BSD-2-Clause
// Parameters that several layers, or several nets, have in common.
#include <catch2/catch_approx.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

/// Two branches of one weight, and their distance.
std::string Siamese(const std::string& second = "param { name: 'w' } param { name: 'bias' }") {
  return "name: 'siamese' " + Input("x", "4 3") + Input("y", "4 3") +
         Product("a", "x", 2, "param { name: 'w' } param { name: 'bias' }") + Product("b", "y", 2, second) +
         Input("target", "4 2") +
         "layer { name: 'l' type: 'EuclideanLoss' bottom: 'a' bottom: 'target' top: 'l' }"
         "layer { name: 'm' type: 'EuclideanLoss' bottom: 'b' bottom: 'target' top: 'm' }";
}

TEST_CASE("Parameters of one name are one, owned by the first layer") {
  Net<double> net(NetOf(Siamese()));
  CHECK(net.param_owners() == std::vector<int>{-1, -1, 0, 1});
  CHECK(net.learnable_param_ids() == std::vector<int>{0, 1, 0, 1});
  REQUIRE(net.learnable_params().size() == 2);
  CHECK(net.params_lr().size() == 2);
  CHECK(net.params()[0]->data() == net.params()[2]->data());
  CHECK(net.params()[0]->diff() == net.params()[2]->diff());
  net.params()[0]->mutable_cpu_data()[0] = 42;
  CHECK(net.layer_by_name("b")->blobs()[0]->cpu_data()[0] == 42);
}

TEST_CASE("A parameter that was given storage of its own shares its owner's again") {
  Net<double> net(NetOf(Siamese()));
  Blob<double> other(net.params()[2]->shape(), net.place().device());
  net.params()[2]->ShareData(other);
  REQUIRE(net.params()[0]->data() != net.params()[2]->data());
  net.ShareWeights();
  CHECK(net.params()[0]->data() == net.params()[2]->data());
}

TEST_CASE("The gradients of parameters that are shared add up in one diff") {
  Net<double> shared(NetOf(Siamese()));
  Net<double> apart(NetOf(Siamese("")));
  for (const char* input : {"x", "y", "target"}) {
    Fill(*shared.blob_by_name(input), static_cast<std::uint64_t>(*input));
    Fill(*apart.blob_by_name(input), static_cast<std::uint64_t>(*input));
  }
  for (std::size_t i = 0; i < 4; ++i) apart.params()[i]->CopyFrom(*shared.params()[i % 2]);
  shared.ForwardBackward();
  apart.ForwardBackward();
  for (std::size_t p = 0; p < 2; ++p) {
    const auto sum = DiffOf(*shared.learnable_params()[p]);
    const auto one = DiffOf(*apart.params()[p]);
    const auto two = DiffOf(*apart.params()[p + 2]);
    for (std::size_t i = 0; i < sum.size(); ++i) CHECK(sum[i] == Catch::Approx(one[i] + two[i]));
  }
}

TEST_CASE("PERMISSIVE shares parameters of one count and other shapes") {
  const Net<double> net(NetOf(Input("x", "4 3") + Product("a", "x", 2, "param { name: 'w' }") +
                              Product("b", "a", 3, "param { name: 'w' share_mode: PERMISSIVE }")));
  CHECK(net.params()[0]->shape() == Shape{2, 3});
  CHECK(net.params()[2]->shape() == Shape{3, 2});
  CHECK(net.params()[0]->data() == net.params()[2]->data());
}

TEST_CASE("A net shares the trained layers of another, by name") {
  Net<double> trained(NetOf(Input("x", "4 3") + Product("a", "x", 2) + Product("other", "a", 5)));
  Net<double> net(NetOf(Input("x", "9 3") + Product("a", "x", 2) + Product("b", "a", 2)));
  const auto b = net.params()[2]->data();
  const LogLines log(LogLevel::kInfo);
  net.ShareTrainedLayersWith(&trained);
  CHECK(log.Has("Ignoring source layer other"));
  CHECK(net.params()[0]->data() == trained.params()[0]->data());
  CHECK(net.params()[0]->diff() != trained.params()[0]->diff());
  CHECK(net.params()[2]->data() == b);
}

TEST_CASE("Trained layers that do not fit are refused, and then none is shared") {
  const std::string good = Input("x", "4 3") + Product("a", "x", 2);
  Net<double> net(NetOf(good + Product("b", "a", 2)));
  const auto a = net.params()[0]->data();
  Net<double> other_shape(NetOf(good + Product("b", "a", 3)));
  CHECK_THAT(ErrorOf([&] { net.ShareTrainedLayersWith(&other_shape); }),
             Catch::Matchers::ContainsSubstring("layer 'b'") &&
                 Catch::Matchers::ContainsSubstring("3 2 (6)") &&
                 Catch::Matchers::ContainsSubstring("2 2 (4)"));
  Net<double> other_count(NetOf(good + LayerText("ReLU", "b", "a", "b")));
  CHECK_THAT(ErrorOf([&] { net.ShareTrainedLayersWith(&other_count); }),
             Catch::Matchers::ContainsSubstring("Incompatible number of blobs for layer 'b'"));
  const World world("sim main");
  Net<double> elsewhere(NetOf(good), world.place());
  CHECK_THAT(ErrorOf([&] { net.ShareTrainedLayersWith(&elsewhere); }),
             Catch::Matchers::ContainsSubstring("on the device sim:0"));
  CHECK(net.params()[0]->data() == a);
  CHECK_THROWS_AS(net.ShareTrainedLayersWith(nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace ferry::nets_test
