// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ferry/nets/proto_io.hpp"
#include "ferry/nets/sgd_solvers.hpp"
#include "ferry/nets/solver_registry.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/folder.hpp"
#include "tests/unit/kernels_world.hpp"

/// Solvers of a small net, for tests.
namespace ferry::nets_test {

using ferry::testing::Folder;
using ferry::testing::World;

/// The message of a text, where the last one of a field counts.
inline SolverParameter SolverOf(const std::string& text) {
  SolverParameter param;
  if (!google::protobuf::TextFormat::MergeFromString(text, &param)) throw std::invalid_argument(text);
  return param;
}

/// Two layers with weights, and dropout between them. The loss is of the last one.
inline std::string SmallNet(int hidden = 5) {
  return R"(name: "small"
    layer { name: "in" type: "Input" top: "data" top: "target"
            input_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } } }
    layer { name: "first" type: "InnerProduct" bottom: "data" top: "first" param { lr_mult: 1 }
            param { lr_mult: 2 decay_mult: 0 }
            inner_product_param { num_output: )" +
         std::to_string(hidden) + R"( weight_filler { type: "gaussian" std: 0.5 } } }
    layer { name: "drop" type: "Dropout" bottom: "first" top: "first" }
    layer { name: "second" type: "InnerProduct" bottom: "first" top: "second"
            inner_product_param { num_output: 2 weight_filler { type: "gaussian" std: 0.5 } } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "second" bottom: "target" top: "loss" })";
}

/// A solver of SmallNet. `text` is what else its parameter says, or says instead.
inline SolverParameter SmallSolver(const std::string& text, int hidden = 5) {
  return SolverOf("lr_policy: 'fixed' base_lr: 0.05 snapshot_after_train: false " + text + " net_param {" +
                  SmallNet(hidden) + "}");
}

/// Before each pass, the inputs get values that depend on the pass's number alone.
template <class T>
void Feed(Net<T>& net) {
  net.add_before_forward([&net](int layer) {
    if (layer != 0) return;
    const std::uint64_t pass = net.layers()[0]->random_key().iteration;
    for (std::size_t i = 0; i < net.top_vecs()[0].size(); ++i) {
      Blob<T>& input = *net.top_vecs()[0][i];
      const std::vector<T> values = ferry::testing::Numbers<T>(input.count(), 100 * pass + i + 1);
      std::copy(values.begin(), values.end(), input.overwrite_cpu_data());
    }
  });
}

/// The solver of a parameter, with its nets fed.
template <class T>
std::unique_ptr<Solver<T>> FedSolver(const SolverParameter& param, const Place& place) {
  std::unique_ptr<Solver<T>> solver = SolverRegistry<T>::CreateSolver(param, place);
  Feed(*solver->net());
  for (const auto& net : solver->test_nets()) Feed(*net);
  return solver;
}

/// What Feed gave the solver's nets goes to the world's place before each pass, where transfers are
/// forbidden, too.
template <class T>
void BringInputs(Solver<T>& solver, const World& world) {
  std::vector<Net<T>*> nets{solver.net().get()};
  for (const auto& net : solver.test_nets()) nets.push_back(net.get());
  for (Net<T>* const net : nets)
    net->add_before_forward([&world, net](int layer) {
      if (layer != 0) return;
      const TransferGuard meant(TransferPolicy::kAllow);
      for (const Blob<T>* const input : net->top_vecs()[0])
        input->Prefetch(Side::kGpu, world.place().stream());
    });
}

/// The elements of blobs, one after the other.
template <class T, class Blobs>
std::vector<T> ElementsOf(const Blobs& blobs) {
  std::vector<T> values;
  for (const auto& blob : blobs)
    values.insert(values.end(), blob->cpu_data(), blob->cpu_data() + blob->count());
  return values;
}
/// All weights.
template <class T>
std::vector<T> WeightsOf(Solver<T>& solver) {
  return ElementsOf<T>(solver.net()->learnable_params());
}
/// All history.
template <class T>
std::vector<T> HistoryOf(Solver<T>& solver) {
  return ElementsOf<T>(dynamic_cast<SGDSolver<T>&>(solver).history());
}

/// What a solver has. A Restore that throws must not change it.
template <class T>
struct Contents {
  explicit Contents(Solver<T>& solver)
      : weights(WeightsOf(solver)), history(HistoryOf(solver)), iter(solver.iter()) {}
  bool operator==(const Contents&) const = default;

  std::vector<T> weights, history;
  int iter;
};

/// For SmallSolver: where snapshots go.
inline std::string PrefixIn(const Folder& folder) {
  return "snapshot_prefix: '" + (folder / "s").string() + "' ";
}

/// The passes of a net, from now on: what set_iteration said.
template <class T>
std::shared_ptr<std::vector<std::uint64_t>> PassesOf(Net<T>& net) {
  auto passes = std::make_shared<std::vector<std::uint64_t>>();
  net.add_before_forward([&net, passes](int layer) {
    if (layer == 0) passes->push_back(net.layers()[0]->random_key().iteration);
  });
  return passes;
}

}  // namespace ferry::nets_test
