// SPDX-License-Identifier: BSD-2-Clause
// ferry test: scores a net, as `caffe test` does.
#include <cstdio>
#include <vector>

#include "ferry/transfer_guard.hpp"
#include "model.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

struct Test {
  Model model;
  int iterations = 50;

  void Run() const {
    if (iterations <= 0) throw NetError("--iterations " + std::to_string(iterations) + ": 1 or more");
    const auto net = model.MakeNet();
    std::vector<double> sums;
    double loss = 0;
    for (int i = 0; i < iterations; ++i) {
      float iteration_loss = 0;
      const auto& outputs = net->Forward(&iteration_loss);
      const TransferGuard meant(TransferPolicy::kAllow);
      loss += iteration_loss;
      std::size_t at = 0;
      for (const Blob<float>* const output : outputs) {
        const float* const values = output->cpu_data();
        for (std::int64_t k = 0; k < output->count(); ++k, ++at) {
          if (at == sums.size()) sums.push_back(0);
          sums[at] += values[k];
        }
      }
    }
    std::printf("loss: %g\n", loss / iterations);
    Print(*net, sums);
  }

  void Print(const Net<float>& net, const std::vector<double>& sums) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < net.output_blobs().size(); ++i) {
      const auto blob = static_cast<std::size_t>(net.output_blob_indices()[i]);
      const float weight = net.blob_loss_weights()[blob];
      for (std::int64_t k = 0; k < net.output_blobs()[i]->count(); ++k, ++at) {
        const double mean = sums[at] / iterations;
        std::printf("%s = %g", net.blob_names()[blob].c_str(), mean);
        if (weight != 0) std::printf(" (* %g = %g loss)", static_cast<double>(weight), weight * mean);
        std::printf("\n");
      }
    }
  }
};

}  // namespace

void AddTest(CLI::App& app) {
  const auto test = std::make_shared<Test>();
  CLI::App* const verb = app.add_subcommand("test", "score a net: the means of its outputs");
  test->model.AddNetFlags(*verb, "TEST");
  verb->get_option("--weights")->required();
  verb->add_option("--iterations", test->iterations, "how many batches")->capture_default_str();
  verb->callback([test] { test->Run(); });
}

}  // namespace ferry::program
