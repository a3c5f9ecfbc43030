// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <csignal>

#include "ferry/nets/solver_action.hpp"

namespace ferry {

/// Turns the signals SIGINT (Ctrl-C) and SIGHUP into requests to a solver, as `caffe train` does:
///
///     SignalHandler signals(SolverAction::STOP, SolverAction::SNAPSHOT);
///     solver->SetActionFunction(signals.GetActionFunction());
///
/// While it lives, the two signals do nothing else. There may be one at a time; a second one throws NetError.
class SignalHandler {
 public:
  SignalHandler(SolverAction::Enum sigint_action, SolverAction::Enum sighup_action);
  /// The signals do what they did before.
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  /// Each call tells of one signal that came since the last call, SIGHUP first. May outlive the handler.
  ActionCallback GetActionFunction() const;

 private:
  SolverAction::Enum sigint_action_, sighup_action_;
  struct sigaction old_sigint_ {
  }, old_sighup_{};
};

}  // namespace ferry
