// SPDX-License-Identifier: BSD-2-Clause
// Thirty weights on a simulated GPU, and one line of thirty that asks for more than it needs. Run it with
//   FERRY_LEDGER=verify     to see which line has bytes copied that nobody changed
//   FERRY_TRACE=t.json      to see when, in Perfetto or on the page that ferry-report makes of t.json
//   FERRY_TRANSFERS=throw   to stop at the first copy that nobody has allowed
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "ferry/ferry.hpp"

namespace {

using ferry::Blob;
using Weights = std::vector<Blob<float>>;

constexpr int kWeights = 30;
constexpr std::int64_t kCount = 100'000;

Weights MakeWeights(ferry::Device& device) {
  const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // the way up, once
  Weights weights;
  for (int i = 0; i < kWeights; ++i) {
    weights.emplace_back(ferry::Shape{kCount}, device);
    weights.back().set_name("weight" + std::to_string(i));
    ferry::Set(ferry::Place::Cpu(device), 0.5F, weights.back());
    weights.back().Prefetch(ferry::Side::kGpu);
  }
  return weights;
}

double Norm(Weights& weights) {
  double sum = 0;
  for (int i = 0; i < kWeights; ++i) {
    Blob<float>& weight = weights[static_cast<std::size_t>(i)];
    const float* const w = i == 7 ? weight.mutable_cpu_data() : weight.cpu_data();
    for (std::int64_t k = 0; k < kCount; ++k) sum += double{w[k]} * double{w[k]};
  }
  return std::sqrt(sum);
}

double Step(const Weights& weights, const ferry::Place& place) {
  double sum = 0;
  for (const Blob<float>& weight : weights) sum += ferry::Asum(place, weight);
  return sum;
}

}  // namespace

int main() try {
  ferry::Device& device = ferry::GetDevice("sim");
  Weights weights = MakeWeights(device);
  for (int step = 0; step < 3; ++step) {
    const double norm = Norm(weights);
    std::printf("step %d: norm %.3f, sum %.0f\n", step, norm, Step(weights, ferry::Place(device)));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "thirty_blobs: %s\n", error.what());
  return 1;
}
