// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/fault.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace ferry::detail {
namespace {

std::array<std::atomic<FaultReporter*>, 4> reporters{};
std::atomic<bool> installed{false};
struct sigaction previous;  // whom the handler passes the signal on to

FaultAccess AccessOf(const void* context) noexcept {
#if defined(__x86_64__) && defined(__linux__)
  constexpr greg_t kWrites = 2, kFetchesCode = 16;
  const auto* const machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  if ((machine->gregs[REG_ERR] & kFetchesCode) != 0) return FaultAccess::kUnknown;
  return (machine->gregs[REG_ERR] & kWrites) != 0 ? FaultAccess::kWrite : FaultAccess::kRead;
#else
  return static_cast<void>(context), FaultAccess::kUnknown;
#endif
}

/// The default action follows when the handler returns, before another instruction: to make the access again
/// might succeed by then, as another thread goes on. The signal that comes is the same.
void SendAgain(int signal, siginfo_t* info) noexcept {
#ifdef __linux__
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info) == 0) return;
#endif
  static_cast<void>(info);
  (void)raise(signal);
}

void PassOn(int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler == SIG_IGN && sent) return;
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  (void)std::signal(signal, SIG_DFL);
  SendAgain(signal, info);
}

/// Whether the access may be made again.
bool Reported(const siginfo_t* info, const void* context) noexcept {
  if (info->si_code <= 0) return false;
  for (const auto& entry : reporters)
    if (FaultReporter* const reporter = entry.load(); reporter != nullptr && reporter->Owns(info->si_addr))
      return reporter->Report(info->si_addr, AccessOf(context));
  return false;
}

void OnSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool again = Reported(info, context);
  errno = error;
  if (!again) PassOn(signal, info, context);
}

void Note(FaultReporter& reporter) noexcept {
  for (auto& entry : reporters) {
    FaultReporter* empty = nullptr;
    if (entry.load() == &reporter || entry.compare_exchange_strong(empty, &reporter)) return;
    if (empty == &reporter) return;
  }
}

}  // namespace

void FaultLine::Write() const noexcept {
  if (write(STDERR_FILENO, buffer_.data(), size_) < 0) return;  // nobody listens
}

void PauseInHandler() noexcept {
  const timespec pause{0, 1'000'000};
  (void)nanosleep(&pause, nullptr);
}

void ReportFaults(FaultReporter& reporter) noexcept {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Note(reporter);
  struct sigaction now {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return;
  const auto handles = [&](const struct sigaction& action) {
    return now.sa_sigaction == action.sa_sigaction;
  };
  struct sigaction ours = now;  // with the mask and the flags that the next handler expects
  ours.sa_sigaction = OnSignal;
  ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  const bool set_since = installed && now.sa_handler != SIG_DFL && !handles(previous);
  if (handles(ours) || set_since) return;
  installed = true;
  previous = now;
  (void)sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace ferry::detail
