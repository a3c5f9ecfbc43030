// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

#include "tests/nets/lone_layer.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Vector = std::vector<double>;

TEST_CASE("Forward returns the tops' elements times their loss weights") {
  const World world(GENERATE(from_range(Places())));
  LoneLayer run("type: 'Split' loss_weight: 0.5 loss_weight: 0", world.place(), 1, 2);
  run.SetUp();
  CHECK(run.layer->loss(0) == 0.5F);
  CHECK(run.layer->loss(1) == 0);
  CHECK(run.layer->loss(7) == 0);
  CHECK(DiffOf(*run.top[0]) == Vector(4, 0.5));
  CHECK(DiffOf(*run.top[1]) == Vector(4, 0));
  CHECK(run.layer->Forward(run.bottom, run.top) == 5);

  run.layer->set_loss(1, 2);
  Set(world.place(), 2, Diff(*run.top[1]));
  CHECK(run.layer->Forward(run.bottom, run.top) == 5 + 20);
  CHECK_THROWS_AS(run.layer->set_loss(-1, 3), NetError);
  CHECK_THROWS_AS(run.layer->set_param_propagate_down(-1, true), NetError);
}

TEST_CASE("A top keeps its loss weight through smaller shapes") {
  const World world(GENERATE(from_range(Places())));
  LoneLayer run("type: 'Power' power_param { scale: 3 } loss_weight: 0.5", world.place());
  run.SetUp();
  const auto loss_of = [&run](const std::vector<double>& values) {
    run.bottom[0]->Reshape({static_cast<std::int64_t>(values.size())});
    SetData(*run.bottom[0], values);
    return run.layer->Forward(run.bottom, run.top);
  };
  CHECK(loss_of({1, 2}) == 4.5F);
  CHECK(loss_of({1, 2, 3}) == 9);
  CHECK(loss_of({1, 2, 3, 4}) == 15);
  CHECK(DiffOf(*run.top[0]) == Vector(4, 0.5));
  SECTION("and loses it in a larger one, as in Caffe") {
    CHECK(loss_of({1, 2, 3, 4, 5}) == 0);
    CHECK(loss_of({1, 2}) == 0);
    CHECK(loss_of({1, 2, 3}) == 0);
  }
}

TEST_CASE("A layer takes as many loss weights as it has tops, or none") {
  const World world("host cpu");
  LoneLayer run("name: 'mine' type: 'Power' loss_weight: 1 loss_weight: 1", world.place());
  CHECK_THROWS_MATCHES(
      run.SetUp(), NetError,
      MessageMatches(ContainsSubstring("'mine'") && ContainsSubstring("2 loss_weight for 1 top blobs")));
}

TEST_CASE("A layer whose loss weights are refused changes nothing") {
  const World world(GENERATE(from_range(Places())));
  const auto bad = GENERATE(as<std::string>(), "loss_weight: 1 loss_weight: nan",
                            "loss_weight: 0 loss_weight: -inf", "loss_weight: inf loss_weight: 1",
                            "loss_weight: 1", "loss_weight: 1 loss_weight: 1 loss_weight: 1");
  // The one shapes its tops after LayerSetUp, and the other in it.
  const bool has_bottom = GENERATE(true, false);
  const std::string type = has_bottom ? "type: 'Split' " : "type: 'Input' input_param { shape { dim: 2 } } ";
  INFO(type << bad);
  LoneLayer run(type + bad, world.place(), has_bottom ? 1 : 0, 2);
  for (Blob<float>* const top : run.top) {
    top->Reshape({3});
    Set(world.place(), 7, *top);
    Set(world.place(), 8, Diff(*top));
  }
  CHECK_THROWS_MATCHES(run.SetUp(), NetError, MessageMatches(ContainsSubstring("loss_weight")));
  for (int i = 0; i < 2; ++i) {
    const Blob<float>& top = *run.top[static_cast<std::size_t>(i)];
    CHECK(DataOf(top) == Vector(3, 7));
    CHECK(DiffOf(top) == Vector(3, 8));
    CHECK(run.layer->loss(i) == 0);
  }
  CHECK_THROWS_MATCHES(run.layer->Backward(run.top, {has_bottom}, run.bottom), NetError,
                       MessageMatches(ContainsSubstring("do not fit")));
}

}  // namespace
}  // namespace ferry::nets_test
