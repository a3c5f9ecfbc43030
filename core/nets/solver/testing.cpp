// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/nets/solver/log_line.hpp"
#include "core/nets/solver/outputs.hpp"
#include "ferry/nets/solver.hpp"

namespace ferry {

template <class T>
void Solver<T>::TestAll() {
  for (int id = 0; id < static_cast<int>(test_nets_.size()) && !requested_early_exit_; ++id) Test(id);
}

/// Does what is asked for. Returns whether the test goes on.
template <class T>
bool Solver<T>::MayGoOn() {
  constexpr int kKinds = 2;  // a further request waits for the next pass
  for (int i = 0; i < kKinds; ++i) {
    const SolverAction::Enum request = GetRequestedAction();
    if (request == SolverAction::NONE) break;
    if (request == SolverAction::SNAPSHOT) SnapshotOnRequest();
    if (request == SolverAction::STOP) requested_early_exit_ = true;
  }
  return !requested_early_exit_;
}

template <class T>
void Solver<T>::Test(int test_net_id) {
  detail::LogInfo("Iteration ", iter_, ", Testing net (#", test_net_id, ")");
  Net<T>& net = *test_nets_.at(static_cast<std::size_t>(test_net_id));
  net.ShareTrainedLayersWith(net_.get());
  net.PrefetchParams();  // those that this one has alone
  const auto passes = static_cast<std::uint64_t>(std::max(param_.test_iter(test_net_id), 0));
  // Passes of tests count on from test to test, so that each sees the next data.
  const int tests = iter_ / param_.test_interval() - (param_.test_initialization() ? 0 : 1);
  const std::uint64_t first = static_cast<std::uint64_t>(std::max(tests, 0)) * passes;
  std::vector<T> sums;
  T loss = 0;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    if (!MayGoOn()) {
      detail::LogInfo("Test interrupted.");
      return;
    }
    net.set_iteration(first + pass);
    T pass_loss = 0;
    net.Forward(&pass_loss);
    loss += pass_loss;
    const std::vector<T> values = detail::OutputsOf(net);
    sums.resize(std::max(sums.size(), values.size()), T(0));
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  }
  if (passes == 0) return;
  if (param_.test_compute_loss()) detail::LogInfo("Test loss: ", loss / static_cast<T>(passes));
  for (T& sum : sums) sum /= static_cast<T>(passes);
  detail::LogOutputs("Test", net, sums);
}

template bool Solver<float>::MayGoOn();
template bool Solver<double>::MayGoOn();
template void Solver<float>::TestAll();
template void Solver<double>::TestAll();
template void Solver<float>::Test(int);
template void Solver<double>::Test(int);

}  // namespace ferry
