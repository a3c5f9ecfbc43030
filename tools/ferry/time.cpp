// SPDX-License-Identifier: BSD-2-Clause
// ferry time: how long each layer takes, what it moves and what it holds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "ferry/statistics_device.hpp"
#include "ferry/transfer_guard.hpp"
#include "model.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

using Clock = std::chrono::steady_clock;

/// Of all iterations together.
struct LayerCost {
  double forward_ms = 0, backward_ms = 0;
  std::uint64_t moved_forward = 0, moved_backward = 0;  ///< bytes, between host and device
};

std::uint64_t Moved(const Statistics& done) {
  return done.host_to_device.bytes + done.device_to_host.bytes + done.device_to_device.bytes;
}

/// Runs it, to its end on the device.
template <class Run>
void Measure(const Place& place, double& ms, std::uint64_t& moved, Run run) {
  const Statistics before = GetStatistics(place.device());
  const Clock::time_point start = Clock::now();
  run();
  place.stream().Synchronize();
  ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  moved += Moved(GetStatistics(place.device()) - before);
}

/// The parameters of a layer and the tops that it does not share with a bottom, with their gradients in
/// TRAIN.
std::uint64_t HeldBytes(const Net<float>& net, std::size_t layer) {
  std::int64_t elements = 0;
  for (const auto& blob : net.layers()[layer]->blobs()) elements += blob->count();
  const auto& bottoms = net.bottom_vecs()[layer];
  for (const Blob<float>* const top : net.top_vecs()[layer])
    if (std::ranges::find(bottoms, top) == bottoms.end()) elements += top->count();
  return static_cast<std::uint64_t>(elements) * sizeof(float) * (net.phase() == TRAIN ? 2 : 1);
}

/// The blobs that a loss or Accuracy reads as labels, and those that are split into such.
std::set<const Blob<float>*> Labels(const Net<float>& net) {
  std::set<const Blob<float>*> labels;
  for (std::size_t i = net.layers().size(); i-- > 0;) {
    const std::string type = net.layers()[i]->type();
    const auto& bottoms = net.bottom_vecs()[i];
    const auto is_label = [&](const Blob<float>* top) { return labels.contains(top); };
    if ((type.ends_with("Loss") || type == "Accuracy") && bottoms.size() > 1) labels.insert(bottoms[1]);
    if (type == "Split" && std::ranges::any_of(net.top_vecs()[i], is_label)) labels.insert(bottoms[0]);
  }
  return labels;
}

/// Labels are class 0. Else real values: zeros would always go one way through max pooling and ReLU.
void FillInputs(const Net<float>& net) {
  const auto labels = Labels(net);
  for (Blob<float>* const input : net.input_blobs()) {
    const bool label = labels.contains(input);
    float* const values = input->overwrite_cpu_data();
    for (std::int64_t i = 0; i < input->count(); ++i)
      values[i] = label ? 0 : static_cast<float>((i * 2654435761 >> 8) % 2048) / 1024 - 1;
  }
}

struct Time {
  Model model;
  int iterations = 50;

  void Run() const {
    if (iterations <= 0) throw NetError("--iterations " + std::to_string(iterations) + ": 1 or more");
    const auto net = model.MakeNet();
    FillInputs(*net);
    float loss = 0;
    {
      const TransferGuard inputs_go_up(TransferPolicy::kAllow);
      net->Forward(&loss);
    }
    if (net->phase() == TRAIN) net->Backward();

    const int layers = static_cast<int>(net->layers().size());
    std::vector<LayerCost> costs(net->layers().size());
    for (int i = 0; i < iterations; ++i) {
      for (int layer = 0; layer < layers; ++layer) {
        LayerCost& cost = costs[static_cast<std::size_t>(layer)];
        Measure(net->place(), cost.forward_ms, cost.moved_forward, [&] { net->ForwardFromTo(layer, layer); });
      }
      if (net->phase() != TRAIN) continue;
      net->ClearParamDiffs();
      for (int layer = layers - 1; layer >= 0; --layer) {
        LayerCost& cost = costs[static_cast<std::size_t>(layer)];
        Measure(net->place(), cost.backward_ms, cost.moved_backward,
                [&] { net->BackwardFromTo(layer, layer); });
      }
    }
    Print(*net, costs);
  }

  void Print(const Net<float>& net, const std::vector<LayerCost>& costs) const {
    std::printf("%-28s %-16s %12s %12s %14s %14s\n", "layer", "type", "forward ms", "backward ms",
                "moved bytes", "held bytes");
    LayerCost all;
    std::uint64_t held = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      PrintRow(net.layer_names()[i].c_str(), net.layers()[i]->type(), costs[i], HeldBytes(net, i));
      all.forward_ms += costs[i].forward_ms;
      all.backward_ms += costs[i].backward_ms;
      all.moved_forward += costs[i].moved_forward;
      all.moved_backward += costs[i].moved_backward;
      held += HeldBytes(net, i);
    }
    PrintRow("all", "", all, held);
    std::printf("Means of %d iterations on %s.\n", iterations,
                net.place().device().properties().name.c_str());
  }

  void PrintRow(const char* name, const char* type, const LayerCost& cost, std::uint64_t held) const {
    std::printf("%-28s %-16s %12.3f %12.3f %14llu %14llu\n", name, type, cost.forward_ms / iterations,
                cost.backward_ms / iterations,
                static_cast<unsigned long long>((cost.moved_forward + cost.moved_backward) /
                                                static_cast<std::uint64_t>(iterations)),
                static_cast<unsigned long long>(held));
  }
};

}  // namespace

void AddTime(CLI::App& app) {
  const auto time = std::make_shared<Time>();
  CLI::App* const verb = app.add_subcommand("time", "measure each layer: time, bytes moved, bytes held");
  time->model.AddNetFlags(*verb, "TRAIN");
  verb->add_option("--iterations", time->iterations, "how many passes forward and backward")
      ->capture_default_str();
  verb->callback([time] { time->Run(); });
}

}  // namespace ferry::program
