// SPDX-License-Identifier: BSD-2-Clause
// What layers draw: the same at every place, another in each pass and layer.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "core/nets/philox.hpp"
#include "tests/nets/layer_case.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
constexpr RandomKey kKey{7, 3, 40};

std::string DropoutText(double ratio) {
  return "name: 'drop' type: 'Dropout' dropout_param { dropout_ratio: " + std::to_string(ratio) + " }";
}

/// A layer of one bottom, which is full of ones, and one top, set up at a place.
template <class T>
struct OneLayer {
  OneLayer(const std::string& text, const Place& place, const Shape& shape, Phase phase = TRAIN,
           const RandomKey& key = kKey)
      : bottom(shape, place.device()), top(place.device()), bottoms{&bottom}, tops{&top} {
    SetData(bottom, std::vector<double>(static_cast<std::size_t>(bottom.count()), 1.0));
    layer = LayerRegistry<T>::CreateLayer(LayerOf(text, phase), place);
    layer->set_random_key(key);
    layer->SetUp(bottoms, tops);
  }
  std::vector<double> Forward() {
    layer->Forward(bottoms, tops);
    return DataOf(top);
  }
  /// The bottom's gradient where the top's is 1.
  std::vector<double> Backward() {
    SetDiff(top, std::vector<double>(static_cast<std::size_t>(top.count()), 1.0));
    layer->Backward(tops, {true}, bottoms);
    return DiffOf(bottom);
  }

  Blob<T> bottom, top;
  std::vector<Blob<T>*> bottoms, tops;
  std::shared_ptr<Layer<T>> layer;
};

TEMPLATE_TEST_CASE("Dropout draws the same mask at every place", "[random]", float, double) {
  std::vector<double> first;
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    OneLayer<TestType> drop(DropoutText(0.3), world.place(), {13, 37});
    const std::vector<double> values = drop.Forward();
    if (first.empty()) first = values;
    CHECK(values == first);
  }
}

TEMPLATE_TEST_CASE("An element stays by bits of its own, of one of 16 lanes in its group of 64", "[random]",
                   float, double) {
  const World world("host cpu");
  const detail::Philox random(kKey);
  for (const int count : {1, 63, 64, 65, 128, 481}) {
    CAPTURE(count);
    OneLayer<TestType> drop(DropoutText(0.25), world.place(), {count});
    const std::vector<double> values = drop.Forward();
    std::vector<bool> stay, stayed;
    for (int i = 0; i < count; ++i) {
      const int group = i / 64, word = i % 64 / 16, lane = i % 16;
      stay.push_back(random.At(static_cast<std::uint64_t>(16 * group + lane)).word[word] >= 0x40000000U);
      stayed.push_back(values[static_cast<std::size_t>(i)] != 0);
    }
    CHECK(stayed == stay);
  }
}

TEMPLATE_TEST_CASE("Dropout keeps what it should, scaled so that the mean stays", "[random]", float, double) {
  const World world("host cpu");
  for (const double ratio : {0.1, 0.5, 0.8}) {
    OneLayer<TestType> drop(DropoutText(ratio), world.place(), {40000});
    double kept = 0;
    for (const double value : drop.Forward()) {
      if (value == 0) continue;
      ++kept;
      REQUIRE(value == Approx(1 / (1 - ratio)).epsilon(1e-6));
    }
    CHECK(kept / 40000 == Approx(1 - ratio).margin(5 * std::sqrt(ratio * (1 - ratio) / 40000)));
  }
}

TEMPLATE_TEST_CASE("Backward drops what the last Forward dropped", "[random]", float, double) {
  for (const std::string& where : Places()) {
    INFO(where);
    const World world(where);
    OneLayer<TestType> drop(DropoutText(0.5), world.place(), {300});
    const std::vector<double> first = drop.Forward();
    CHECK(drop.Backward() == first);
    const std::vector<double> second = drop.Forward();
    CHECK(second != first);
    CHECK(drop.Backward() == second);
    CHECK(drop.Backward() == second);
  }
}

TEMPLATE_TEST_CASE("Dropout in place drops the same", "[random]", float, double) {
  const World world("host cpu");
  OneLayer<TestType> apart(DropoutText(0.5), world.place(), {300});
  OneLayer<TestType> in_place(DropoutText(0.5), world.place(), {300});
  in_place.tops = in_place.bottoms;
  const std::vector<double> values = apart.Forward();
  in_place.layer->Forward(in_place.bottoms, in_place.tops);
  CHECK(DataOf(in_place.bottom) == values);
}

TEMPLATE_TEST_CASE("A pass, a layer and a seed each drop other elements", "[random]", float, double) {
  const World world("host cpu");
  const auto drop = [&](const RandomKey& key) {
    return OneLayer<TestType>(DropoutText(0.5), world.place(), {300}, TRAIN, key).Forward();
  };
  const std::vector<double> values = drop(kKey);
  CHECK(values == drop(kKey));
  CHECK(values != drop({8, 3, 40}));
  CHECK(values != drop({7, 4, 40}));
  CHECK(values != drop({7, 3, 41}));
  OneLayer<TestType> two(DropoutText(0.5), world.place(), {300}, TRAIN, {7, 3, 39});
  two.Forward();
  CHECK(two.Forward() == values);
}

TEMPLATE_TEST_CASE("Dropout changes nothing in testing, or with a ratio of 0", "[random]", float, double) {
  const World world("host cpu");
  const std::vector<double> ones(50, 1.0);
  OneLayer<TestType> testing(DropoutText(0.5), world.place(), {50}, TEST);
  CHECK(testing.Forward() == ones);
  CHECK(testing.Backward() == ones);
  OneLayer<TestType> none(DropoutText(0), world.place(), {50});
  CHECK(none.Forward() == ones);
  CHECK(none.Backward() == ones);
}

TEST_CASE("A dropout_ratio that is no probability below 1 is refused", "[random]") {
  const World world("host cpu");
  for (const double ratio : {1.0, 1.5, -0.1}) {
    INFO(ratio);
    CHECK_THROWS_AS(OneLayer<float>(DropoutText(ratio), world.place(), {3}), NetError);
    CHECK_THROWS_WITH(OneLayer<float>(DropoutText(ratio), world.place(), {3}),
                      ContainsSubstring("'drop'") && ContainsSubstring("dropout_ratio"));
  }
}

constexpr const char* kScale =
    "name: 'scale' type: 'Scale' scale_param { filler { type: 'gaussian' } "
    "bias_term: true bias_filler { type: 'gaussian' } }";

TEMPLATE_TEST_CASE("A layer's parameters are filled alike at every place, from its seed and number",
                   "[random]", float, double) {
  const auto fill = [](const std::string& where, const RandomKey& key) {
    const World world(where);
    OneLayer<TestType> scale(kScale, world.place(), {2, 500}, TRAIN, key);
    std::vector<double> values = DataOf(*scale.layer->blobs()[0]);
    const std::vector<double> bias = DataOf(*scale.layer->blobs()[1]);
    CHECK(values != bias);
    values.insert(values.end(), bias.begin(), bias.end());
    return values;
  };
  const std::vector<double> values = fill("host cpu", kKey);
  for (const std::string& where : Places()) {
    INFO(where);
    CHECK(fill(where, kKey) == values);
    CHECK(fill(where, {7, 3, 0}) == values);
    CHECK(fill(where, {8, 3, 40}) != values);
    CHECK(fill(where, {7, 4, 40}) != values);
  }
}

}  // namespace
}  // namespace ferry::nets_test
