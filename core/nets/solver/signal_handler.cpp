// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/signal_handler.hpp"

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include "ferry/nets/error.hpp"

namespace ferry {
namespace {

// What a handler of signals may touch.
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<bool> g_sigint{false};
std::atomic<bool> g_sighup{false};
std::atomic<bool> g_handled{false};

void Note(int signal) { (signal == SIGHUP ? g_sighup : g_sigint).store(true); }

void Handle(int signal, struct sigaction* old) {
  struct sigaction action {};
  action.sa_handler = Note;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  if (::sigaction(signal, &action, old) != 0)
    throw NetError("SignalHandler: cannot handle signal " + std::to_string(signal) + ": " +
                   std::generic_category().message(errno));
}

}  // namespace

SignalHandler::SignalHandler(SolverAction::Enum sigint_action, SolverAction::Enum sighup_action)
    : sigint_action_(sigint_action), sighup_action_(sighup_action) {
  if (g_handled.exchange(true)) throw NetError("SignalHandler: there is one already; end it first");
  g_sigint = false;
  g_sighup = false;
  Handle(SIGHUP, &old_sighup_);
  Handle(SIGINT, &old_sigint_);
}

SignalHandler::~SignalHandler() {
  ::sigaction(SIGINT, &old_sigint_, nullptr);
  ::sigaction(SIGHUP, &old_sighup_, nullptr);
  g_handled = false;
}

ActionCallback SignalHandler::GetActionFunction() const {
  return [sigint = sigint_action_, sighup = sighup_action_] {
    if (g_sighup.exchange(false)) return sighup;
    if (g_sigint.exchange(false)) return sigint;
    return SolverAction::NONE;
  };
}

}  // namespace ferry
