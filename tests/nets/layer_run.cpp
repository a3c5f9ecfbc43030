// SPDX-License-Identifier: BSD-2-Clause
#include "tests/nets/layer_run.hpp"

#include <algorithm>
#include <cmath>

#include "tests/worst.hpp"

namespace ferry::nets_test {

Given Reals(const std::vector<std::int64_t>& shape, std::uint64_t seed, double scale) {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  Numbers values = ferry::testing::Numbers<double>(count, seed);
  for (double& value : values) value = static_cast<float>(scale * value);
  return {shape, values};
}

Given Integers(const std::vector<std::int64_t>& shape, std::int64_t n) {
  Given given = Reals(shape, 1);
  for (std::size_t i = 0; i < given.values.size(); ++i)
    given.values[i] = static_cast<double>(static_cast<std::int64_t>(i * 7 + i / 3) % n);
  return given;
}

std::string LayerText(const std::string& type, const std::string& more) {
  return "name: 'l' type: '" + type + "' " + more;
}

void CheckNear(const Numbers& values, const Numbers& expected, double tolerance) {
  REQUIRE(values.size() == expected.size());
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  ferry::testing::Worst worst;
  for (std::size_t i = 0; i < values.size(); ++i) worst.Take(std::abs(values[i] - expected[i]), i);
  if (values.empty()) return;
  INFO("element " << worst.at() << " is " << values[worst.at()] << ", expected " << expected[worst.at()]);
  CHECK(worst.difference() <= tolerance * largest);
}

Numbers SoftmaxOf(const Numbers& x, std::size_t channels, std::size_t inner) {
  Numbers y(x.size());
  for (std::size_t first = 0; first < x.size(); first += channels * inner)
    for (std::size_t j = first; j < first + inner; ++j) {
      double sum = 0;
      for (std::size_t c = 0; c < channels; ++c) sum += std::exp(x[j + c * inner]);
      for (std::size_t c = 0; c < channels; ++c) y[j + c * inner] = std::exp(x[j + c * inner]) / sum;
    }
  return y;
}

Run::Run(const World& world, const std::string& text, const std::vector<Given>& bottoms, std::size_t tops)
    : Run(world, LayerOf(text), bottoms, tops) {}

Run::Run(const World& world, const LayerParameter& param, const std::vector<Given>& bottoms, std::size_t tops)
    : device_(&world.device()) {
  for (const Given& given : bottoms) {
    bottom.push_back(Make());
    Fill(bottom.size() - 1, given);
  }
  for (std::size_t i = 0; i < tops; ++i) top.push_back(Make());
  layer = LayerRegistry<double>::CreateLayer(param, world.place());
  layer->SetUp(bottom, top);
}

void Run::Fill(std::size_t i, const Given& given) {
  bottom[i]->Reshape(given.shape);
  SetData(*bottom[i], given.values);
}

void Run::FillParams(std::uint64_t seed) {
  for (const auto& param : layer->blobs()) SetData(*param, Reals({param->count()}, ++seed).values);
}

void Run::Backward() {
  std::vector<bool> propagate(bottom.size(), false);
  propagate[0] = true;
  layer->Backward(top, propagate, bottom);
}

Blob<double>* Run::Make() {
  owned_.push_back(std::make_unique<Blob<double>>(*device_));
  return owned_.back().get();
}

}  // namespace ferry::nets_test
