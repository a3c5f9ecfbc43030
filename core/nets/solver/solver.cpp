// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/solver.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "core/nets/net/naming_file.hpp"
#include "core/nets/solver/log_line.hpp"
#include "core/nets/solver/refuse.hpp"
#include "ferry/nets/proto_io.hpp"

namespace ferry {
namespace {

SolverParameter ReadSolver(const std::filesystem::path& file) {
  SolverParameter param;
  ReadSolverParamsFromTextFileOrDie(file, &param);
  return param;
}

/// A net whose state is the solver's default for the phase, then what the net says, then `state`.
void MergeState(Phase phase, const NetState* state, NetParameter* net) {
  NetState merged;
  merged.set_phase(phase);
  merged.MergeFrom(net->state());
  if (state != nullptr) merged.MergeFrom(*state);
  *net->mutable_state() = merged;
}

NetParameter ReadNet(const std::string& file) {
  NetParameter net;
  ReadNetParamsFromTextFileOrDie(file, &net);
  return net;
}

/// The train net of the one field that says it.
NetParameter TrainNet(const SolverParameter& param) {
  std::string given;
  const auto add = [&](bool has, std::string_view field) {
    if (has) given += (given.empty() ? "" : ", ") + std::string(field);
    return has ? 1 : 0;
  };
  const int count = add(param.has_net(), "net") + add(param.has_net_param(), "net_param") +
                    add(param.has_train_net(), "train_net") +
                    add(param.has_train_net_param(), "train_net_param");
  if (count != 1)
    detail::FailSolver((count == 0 ? "there is no train net" : "several train nets: " + given) +
                       "; say one of net, net_param, train_net, train_net_param");
  detail::LogInfo("Creating training net specified by ", given);
  if (param.has_net()) return ReadNet(param.net());
  if (param.has_train_net()) return ReadNet(param.train_net());
  return param.has_net_param() ? param.net_param() : param.train_net_param();
}

/// How many test nets there are. Throws where the counts of fields do not fit each other.
int CountTestNets(const SolverParameter& param) {
  const int own = param.test_net_param_size() + param.test_net_size();
  const int count = param.test_iter_size();
  const bool generic = param.has_net() || param.has_net_param();
  if (generic ? count < own : count != own)
    detail::FailSolver(std::to_string(count) + " test_iter for " + std::to_string(own) +
                       " test nets (test_net_param and test_net); say one for each" +
                       (generic ? ", and one more for each test of the train net" : ""));
  if (param.test_state_size() != 0 && param.test_state_size() != count)
    detail::FailSolver(std::to_string(param.test_state_size()) + " test_state for " + std::to_string(count) +
                       " test nets; say one for each, or none");
  if (count != 0 && param.test_interval() <= 0)
    detail::FailSolver("test_interval " + std::to_string(param.test_interval()) + " with " +
                       std::to_string(count) + " test nets; it must be more than 0");
  return count;
}

/// Of test net number `id`; none for one that the solver's own file has. Those of test_net_param come first,
/// then those of test_net, then the train net's.
std::optional<std::string> TestNetFile(const SolverParameter& param, int id) {
  const int in_file = id - param.test_net_param_size();
  if (in_file >= 0 && in_file < param.test_net_size()) return param.test_net(in_file);
  if (in_file >= 0 && param.has_net()) return param.net();
  return std::nullopt;
}

NetParameter TestNet(const SolverParameter& param, int id) {
  const std::optional<std::string> file = TestNetFile(param, id);
  const bool own = id < param.test_net_param_size() + param.test_net_size();
  detail::LogInfo("Creating test net (#", id, ") specified by ", own ? "test_" : "",
                  file ? "net file: " + *file : "net_param");
  if (file) return ReadNet(*file);
  return own ? param.test_net_param(id) : param.net_param();
}

std::string Trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(" \t\r\n\v\f") - first + 1);
}

}  // namespace

template <class T>
Solver<T>::Solver(SolverParameter param, const Place& place) : param_(std::move(param)) {
  Init(place);
}

template <class T>
Solver<T>::Solver(const std::filesystem::path& param_file, const Place& place)
    : Solver(ReadSolver(param_file), place) {}

template <class T>
void Solver<T>::Init(const Place& place) {
  if (detail::LogsInfo()) detail::LogInfo("Initializing solver from parameters: ", param_.ShortDebugString());
  if (param_.average_loss() < 1)
    detail::FailSolver("average_loss " + std::to_string(param_.average_loss()) + "; it must be 1 or more");
  if (param_.iter_size() < 1)
    detail::FailSolver("iter_size " + std::to_string(param_.iter_size()) + "; it must be 1 or more");
  CheckSnapshotWritePermissions();
  seed_ = param_.random_seed() < 0 ? FreshSeed().value : static_cast<std::uint64_t>(param_.random_seed());
  InitTrainNet(place);
  InitTestNets(place);
  detail::LogInfo("Solver scaffolding done.");
}

template <class T>
void Solver<T>::InitTrainNet(const Place& place) {
  NetParameter net = TrainNet(param_);
  MergeState(TRAIN, &param_.train_state(), &net);
  detail::NamingFile(param_.has_net() ? param_.net() : param_.train_net(),
                     [&] { net_ = std::make_shared<Net<T>>(net, place, RandomSeed{seed_}); });
  LoadWeights(*net_);
}

template <class T>
void Solver<T>::InitTestNets(const Place& place) {
  const int count = CountTestNets(param_);
  for (int id = 0; id < count; ++id) {
    NetParameter net = TestNet(param_, id);
    MergeState(TEST, param_.test_state_size() == 0 ? nullptr : &param_.test_state(id), &net);
    detail::NamingFile(TestNetFile(param_, id).value_or(""), [&] {
      test_nets_.push_back(
          std::make_shared<Net<T>>(net, place, RandomSeed{TestSeed(static_cast<std::size_t>(id))}));
    });
    test_nets_.back()->set_debug_info(param_.debug_info());
    LoadWeights(*test_nets_.back());
  }
}

/// Each `weights` is a list of files, with commas.
template <class T>
void Solver<T>::LoadWeights(Net<T>& net) const {
  for (const std::string& list : param_.weights())
    for (std::size_t first = 0; first <= list.size();) {
      const std::size_t end = std::min(list.find(',', first), list.size());
      const std::string file = Trimmed(list.substr(first, end - first));
      if (file.empty()) detail::FailSolver("weights '" + list + "': a name is empty");
      detail::LogInfo("Finetuning from ", file);
      net.CopyTrainedLayersFrom(file);
      first = end + 1;
    }
}

template class Solver<float>;
template class Solver<double>;

}  // namespace ferry
