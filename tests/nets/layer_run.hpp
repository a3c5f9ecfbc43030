// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/nets/layer_case.hpp"

/// Layers of double on blobs of a test's own.
namespace ferry::nets_test {

using Numbers = std::vector<double>;

struct Given {
  std::vector<std::int64_t> shape;
  Numbers values;
};
/// Whether work at the place is done when the call that asks for it returns.
inline bool RunsOnHost(const Place& place) {
  return place.side() == Side::kCpu || place.device().properties().kernels_at_once;
}
/// Values from -scale to scale that are exact in float.
Given Reals(const std::vector<std::int64_t>& shape, std::uint64_t seed, double scale = 1);
/// 0 to n - 1, in an order that repeats late.
Given Integers(const std::vector<std::int64_t>& shape, std::int64_t n);

/// The text of a LayerParameter, named l.
std::string LayerText(const std::string& type, const std::string& more = "");
/// Equal within `tolerance` of the largest expected value, or of 1.
void CheckNear(const Numbers& values, const Numbers& expected, double tolerance = 1e-12);
/// By the definition, for columns of `channels` elements that are `inner` apart.
Numbers SoftmaxOf(const Numbers& x, std::size_t channels, std::size_t inner);

/// A layer that is set up, with its bottoms and tops.
class Run {
 public:
  Run(const World& world, const std::string& text, const std::vector<Given>& bottoms, std::size_t tops = 1);
  Run(const World& world, const LayerParameter& param, const std::vector<Given>& bottoms, std::size_t tops);

  void Fill(std::size_t i, const Given& given);
  void FillParams(std::uint64_t seed);
  double Forward() { return layer->Forward(bottom, top); }
  /// Bottom 0 alone gets a gradient.
  void Backward();

  std::vector<Blob<double>*> bottom, top;
  std::shared_ptr<Layer<double>> layer;

 private:
  Blob<double>* Make();

  Device* device_;
  std::vector<std::unique_ptr<Blob<double>>> owned_;
};

}  // namespace ferry::nets_test
