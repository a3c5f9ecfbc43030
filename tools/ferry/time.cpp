// SPDX-License-Identifier: BSD-2-Clause
// ferry time: how long each layer takes, what it moves and what it holds.
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ferry/transfer_guard.hpp"
#include "model.hpp"
#include "moved_bytes.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

using Clock = std::chrono::steady_clock;

/// Of all iterations together.
struct LayerCost {
  double forward_ms = 0, backward_ms = 0;
  std::uint64_t moved = 0;  ///< bytes
};

/// Runs it, to its end on the device.
template <class Run>
void Measure(const Place& place, double& ms, Run run) {
  const Clock::time_point start = Clock::now();
  run();
  place.stream().Synchronize();
  ms += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// What a net's layers hold: parameters and tops, with their gradients in TRAIN. Bytes that several blobs
/// share count where they are met first.
class HeldBytes {
 public:
  explicit HeldBytes(const Net<float>& net) : net_(&net) {}

  std::uint64_t Of(std::size_t layer) {
    std::uint64_t bytes = 0;
    const auto add = [&](const Blob<float>& blob) {
      const auto size = static_cast<std::uint64_t>(blob.count()) * sizeof(float);
      if (size == 0) return;
      if (met_.insert(blob.data().get()).second) bytes += size;
      if (net_->phase() == TRAIN && met_.insert(blob.diff().get()).second) bytes += size;
    };
    for (const auto& blob : net_->layers()[layer]->blobs()) add(*blob);
    for (const Blob<float>* const top : net_->top_vecs()[layer]) add(*top);
    return bytes;
  }

 private:
  const Net<float>* net_;
  std::set<const void*> met_;
};

/// Real values, since zeros would always go one way through max pooling and ReLU. All lie between -1 and 1,
/// so that as a label or an index each is 0.
void FillInputs(const Net<float>& net) {
  for (Blob<float>* const input : net.input_blobs()) {
    float* const values = input->overwrite_cpu_data();
    for (std::int64_t i = 0; i < input->count(); ++i)
      values[i] = static_cast<float>(2 * ((i * 2654435761 >> 8) % 2048) + 1) / 2048 - 1;
  }
}

struct Time {
  Model model;
  int iterations = 50;

  void Run() const {
    if (iterations <= 0) throw NetError("--iterations " + std::to_string(iterations) + ": 1 or more");
    const auto moved = std::make_shared<MovedBytes>();
    const Watch watch(moved, Told::kOfWork);  // before the net, which reads ahead
    const auto net = model.MakeNet();
    FillInputs(*net);
    float loss = 0;
    {
      const TransferGuard inputs_go_up(TransferPolicy::kAllow);
      net->Forward(&loss);
    }
    if (net->phase() == TRAIN) net->Backward();
    for (const auto& tops : net->top_vecs()) moved->Take(tops);  // of the passes so far

    const int layers = static_cast<int>(net->layers().size());
    std::vector<LayerCost> costs(net->layers().size());
    for (int i = 0; i < iterations; ++i) {
      for (int layer = 0; layer < layers; ++layer) {
        LayerCost& cost = costs[static_cast<std::size_t>(layer)];
        Measure(net->place(), cost.forward_ms, [&] { net->ForwardFromTo(layer, layer); });
        cost.moved += moved->Take(net->top_vecs()[static_cast<std::size_t>(layer)]);
      }
      if (net->phase() != TRAIN) continue;
      net->ClearParamDiffs();
      net->place().stream().Synchronize();  // which is no layer's work
      moved->Take({});
      for (int layer = layers - 1; layer >= 0; --layer) {
        LayerCost& cost = costs[static_cast<std::size_t>(layer)];
        Measure(net->place(), cost.backward_ms, [&] { net->BackwardFromTo(layer, layer); });
        cost.moved += moved->Take({});
      }
    }
    Print(*net, costs);
  }

  void Print(const Net<float>& net, const std::vector<LayerCost>& costs) const {
    std::printf("%-28s %-16s %12s %12s %14s %14s\n", "layer", "type", "forward ms", "backward ms",
                "moved bytes", "held bytes");
    LayerCost all;
    HeldBytes held(net);
    std::uint64_t all_held = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const std::uint64_t bytes = held.Of(i);
      PrintRow(net.layer_names()[i].c_str(), net.layers()[i]->type(), costs[i], bytes);
      all.forward_ms += costs[i].forward_ms;
      all.backward_ms += costs[i].backward_ms;
      all.moved += costs[i].moved;
      all_held += bytes;
    }
    PrintRow("all", "", all, all_held);
    std::printf("Means of %d iterations on %s.\n", iterations,
                net.place().device().properties().name.c_str());
  }

  void PrintRow(const char* name, const char* type, const LayerCost& cost, std::uint64_t held) const {
    std::printf("%-28s %-16s %12.3f %12.3f %14llu %14llu\n", name, type, cost.forward_ms / iterations,
                cost.backward_ms / iterations,
                static_cast<unsigned long long>(cost.moved / static_cast<std::uint64_t>(iterations)),
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
