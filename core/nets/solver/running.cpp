// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/nets/prefetch.hpp"
#include "core/nets/solver/log_line.hpp"
#include "core/nets/solver/outputs.hpp"
#include "core/nets/solver/refuse.hpp"
#include "core/nets/solver/solver_state.hpp"
#include "ferry/nets/solver.hpp"

namespace ferry {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

template <class T>
void Solver<T>::Solve(const char* resume_file, const Site& site) {
  detail::LogInfo("Solving ", net_->name());
  detail::LogInfo("Learning Rate Policy: ", param_.lr_policy());
  if (resume_file != nullptr) Restore(resume_file, site);
  if (param_.snapshot_after_train()) RequireWritable();
  const int start_iter = iter_;
  Step(std::max(param_.max_iter(), iter_) - iter_);
  if (param_.snapshot_after_train() && (param_.snapshot() == 0 || iter_ % param_.snapshot() != 0)) Snapshot();
  if (requested_early_exit_) {
    detail::LogInfo("Optimization stopped early.");
    return;
  }
  if (Displays()) {
    T loss = 0;
    SetPass(0);
    net_->Forward(&loss);
    UpdateSmoothedLoss(loss, start_iter, param_.average_loss());
    detail::LogInfo("Iteration ", iter_, ", loss = ", smoothed_loss_);
  }
  if (TestsNow()) TestAll();
  detail::LogInfo("Optimization Done.");
}

template <class T>
void Solver<T>::Step(int iters) {
  const std::int64_t stop_iter = std::int64_t{iter_} + iters;
  if (stop_iter > std::numeric_limits<int>::max())
    detail::FailSolver("Step: " + std::to_string(iters) + " iterations from iteration " +
                       std::to_string(iter_) + " on; the last may be number 2147483647");
  if (iters > 0) CheckUpdate();
  PrefetchState();
  const int start_iter = iter_;
  requested_early_exit_ = false;
  losses_.clear();
  smoothed_loss_ = 0;
  displayed_at_ = std::chrono::steady_clock::now();
  displayed_iter_ = iter_;
  while (iter_ < stop_iter) {
    net_->ClearParamDiffs();
    if (TestsNow() && (iter_ > 0 || param_.test_initialization())) {
      TestAll();
      if (requested_early_exit_) break;
    }
    for (Callback* callback : callbacks_) callback->on_start();
    const bool displays = Displays();
    net_->set_debug_info(displays && param_.debug_info());
    UpdateSmoothedLoss(Passes(), start_iter, param_.average_loss());
    const double seconds = displays ? Display() : 0;
    for (Callback* callback : callbacks_) callback->on_gradients_ready();
    const int iteration = iter_;
    ApplyUpdate();
    if (displays && progress_function_)
      progress_function_(
          {iteration, static_cast<double>(smoothed_loss_), static_cast<double>(rate_), seconds});
    const SolverAction::Enum request = GetRequestedAction();
    if (param_.snapshot() != 0 && iter_ % param_.snapshot() == 0)
      Snapshot();
    else if (request == SolverAction::SNAPSHOT)
      SnapshotOnRequest();
    if (request == SolverAction::STOP) {
      requested_early_exit_ = true;
      break;
    }
  }
}

/// Training is worth more than a snapshot that was only asked for.
template <class T>
void Solver<T>::SnapshotOnRequest() {
  try {
    Snapshot();
  } catch (const Error& error) {
    Log(LogLevel::kError, std::string("There is no snapshot, and training goes on: ") + error.what());
  }
}

template <class T>
void Solver<T>::SetPass(std::uint64_t pass) {
  net_->set_iteration(static_cast<std::uint64_t>(iter_) * static_cast<std::uint64_t>(param_.iter_size()) +
                      pass);
}

/// The passes of an iteration, whose gradients add up. Returns the mean loss.
template <class T>
T Solver<T>::Passes() {
  T loss = 0;
  const auto passes = static_cast<std::uint64_t>(param_.iter_size());
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    SetPass(pass);
    loss += net_->ForwardBackward();
  }
  return loss / static_cast<T>(passes);
}

/// What fillers, files and the program have put on the host goes to the net's place.
template <class T>
void Solver<T>::PrefetchState() {
  net_->PrefetchParams();
  for (const auto& blob : history_) detail::PrefetchTo(net_->place(), *blob);
  for (const auto& state : {detail::LayerState<T>({net_}), detail::LayerState(test_nets_)})
    for (const auto& blob : state) detail::PrefetchTo(net_->place(), *blob);
}

/// Returns the seconds since that was done before.
template <class T>
double Solver<T>::Display() {
  const double seconds = SecondsSince(displayed_at_);
  detail::LogInfo("Iteration ", iter_, " (", (iter_ - displayed_iter_) / (seconds != 0 ? seconds : 1),
                  " iter/s, ", seconds, "s/", param_.display(), " iters), loss = ", smoothed_loss_);
  displayed_at_ = std::chrono::steady_clock::now();
  displayed_iter_ = iter_;
  if (detail::LogsInfo()) detail::LogOutputs("Train", *net_, detail::OutputsOf(*net_));
  return seconds;
}

/// Caffe's: a mean of all losses until there are average_loss of them, then of the last ones.
template <class T>
void Solver<T>::UpdateSmoothedLoss(T loss, int start_iter, int average_loss) {
  const auto most = static_cast<std::size_t>(average_loss);
  if (losses_.size() < most) {
    losses_.push_back(loss);
    const auto size = static_cast<T>(losses_.size());
    smoothed_loss_ = (smoothed_loss_ * (size - 1) + loss) / size;
  } else {
    T& oldest = losses_[static_cast<std::size_t>(iter_ - start_iter) % most];
    smoothed_loss_ += (loss - oldest) / static_cast<T>(most);
    oldest = loss;
  }
}

template void Solver<float>::Solve(const char*, const Site&);
template void Solver<double>::Solve(const char*, const Site&);
template void Solver<float>::Step(int);
template void Solver<double>::Step(int);
template void Solver<float>::PrefetchState();
template void Solver<double>::PrefetchState();
template void Solver<float>::SnapshotOnRequest();
template void Solver<double>::SnapshotOnRequest();
template void Solver<float>::SetPass(std::uint64_t);
template void Solver<double>::SetPass(std::uint64_t);
template float Solver<float>::Passes();
template double Solver<double>::Passes();
template double Solver<float>::Display();
template double Solver<double>::Display();
template void Solver<float>::UpdateSmoothedLoss(float, int, int);
template void Solver<double>::UpdateSmoothedLoss(double, int, int);

}  // namespace ferry
