// SPDX-License-Identifier: BSD-2-Clause
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/nets/as_net_error.hpp"
#include "core/nets/format/stage.hpp"
#include "core/nets/net/weights.hpp"
#include "core/nets/solver/log_line.hpp"
#include "core/nets/solver/refuse.hpp"
#include "core/nets/solver/solver_state.hpp"
#include "core/proto/file.hpp"
#include "ferry/nets/proto_io.hpp"
#include "ferry/nets/solver.hpp"
#include "ferry/transfer_guard.hpp"

namespace ferry {
namespace {

[[noreturn]] void FailLearnedNet(const std::filesystem::path& state_file, const Error& error) {
  detail::FailSolver(state_file.string() + ", its learned_net: " + error.what());
}

}  // namespace

template <class T>
std::string Solver<T>::SnapshotFilename(const std::string& extension) const {
  return param_.snapshot_prefix() + "_iter_" + std::to_string(iter_) + extension;
}

template <class T>
void Solver<T>::CheckSnapshotWritePermissions() {
  if (param_.snapshot() == 0) return;
  if (!param_.has_snapshot_prefix())
    detail::FailSolver("snapshot " + std::to_string(param_.snapshot()) +
                       " without snapshot_prefix; say where snapshots go");
  RequireWritable();
}

/// By a file that is made beside, and goes again.
template <class T>
void Solver<T>::RequireWritable() const {
  const std::string file = SnapshotFilename(".tempfile");
  try {
    const detail::NewFile probe(file, "snapshot_prefix '" + param_.snapshot_prefix() + "'");
  } catch (const Error& error) {
    detail::FailSolver(std::string(error.what()) + "; the folder must be there, and writable");
  }
}

template <class T>
void Solver<T>::Snapshot() {
  const TransferGuard meant(TransferPolicy::kAllow);
  const bool hdf5 = param_.snapshot_format() == SolverParameter::HDF5;
  const std::string model = SnapshotFilename(hdf5 ? ".caffemodel.h5" : ".caffemodel");
  detail::LogInfo("Snapshotting to ", hdf5 ? "HDF5" : "binary proto", " file ", model);
  const auto stage_model = [&] {
    if (hdf5) return detail::StageHdf5(*net_->graph_, model, param_.snapshot_diff());
    NetParameter net;
    net_->ToProto(&net, param_.snapshot_diff());
    return detail::StageBinary(net, model);
  };
  const std::unique_ptr<detail::NewFile> new_model = stage_model();
  SolverState state;
  state.set_iter(iter_);
  state.set_learned_net(model);
  state.set_current_step(current_step_);
  state.set_seed(seed_);
  state.set_solver_type(type());
  const std::string file = SnapshotFilename(hdf5 ? ".solverstate.h5" : ".solverstate");
  detail::LogInfo("Snapshotting solver state to ", hdf5 ? "HDF5" : "binary proto", " file ", file);
  const std::unique_ptr<detail::NewFile> new_state =
      detail::StageState<T>(file, param_.snapshot_format(), state,
                            {history_, detail::LayerState<T>({net_}), detail::LayerState(test_nets_)});
  // In this order, so that where there is a state there is its model.
  detail::AsNetError([&] { detail::NewFile::CommitAll({new_model.get(), new_state.get()}); });
}

template <class T>
void Solver<T>::Restore(const std::filesystem::path& state_file, const Site& site) {
  const TransferGuard meant(TransferPolicy::kAllow);
  detail::LogInfo("Restoring previous solver status from ", state_file.string());
  const detail::Kept<T> kept{history_, detail::LayerState<T>({net_}), detail::LayerState(test_nets_)};
  SolverState state;
  NetParameter model;
  detail::BlobWrites<T> writes;  // of what `state` and `model` have
  const std::vector<std::string> warnings = detail::ReadState(state_file, kept, state, writes);
  if (state.has_solver_type() && state.solver_type() != type())
    detail::FailSolver(state_file.string() + " is of a solver of type " + state.solver_type() +
                       ", and this one is " + type());
  if (state.has_learned_net()) {
    try {
      detail::AddWeights<T>(*net_->graph_, state.learned_net(), model, writes);
    } catch (const NetError& error) {
      FailLearnedNet(state_file, error);
    } catch (const FormatError& error) {
      FailLearnedNet(state_file, error);
    }
  }
  writes.Make(net_->place().device(), site);  // the last that can fail, and the first that changes anything
  iter_ = state.iter();
  current_step_ = state.current_step();
  SetPass(0);
  // A seed that the program says stands above that of the snapshot.
  if (state.has_seed() && param_.random_seed() < 0) SetSeed(state.seed());
  for (const std::string& warning : warnings) Log(LogLevel::kWarning, warning);
}

template <class T>
void Solver<T>::SetSeed(std::uint64_t seed) {
  seed_ = seed;
  const auto set = [](const Net<T>& net, std::uint64_t of_net) {
    for (const auto& layer : net.layers()) {
      RandomKey key = layer->random_key();
      key.seed = of_net;
      layer->set_random_key(key);
    }
  };
  set(*net_, seed);
  for (std::size_t id = 0; id < test_nets_.size(); ++id) set(*test_nets_[id], TestSeed(id));
}

#define FERRY_INSTANTIATE(T)                                                   \
  template std::string Solver<T>::SnapshotFilename(const std::string&) const;  \
  template void Solver<T>::CheckSnapshotWritePermissions();                    \
  template void Solver<T>::RequireWritable() const;                            \
  template void Solver<T>::Snapshot();                                         \
  template void Solver<T>::Restore(const std::filesystem::path&, const Site&); \
  template void Solver<T>::SetSeed(std::uint64_t)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
