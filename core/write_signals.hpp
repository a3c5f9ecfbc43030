// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace ferry::detail {

/// While it lives, what this thread writes to a pipe without a reader, or beyond the limit of a file's size
/// (ulimit -f), is an error alone, and no signal that ends the program. Keeps errno.
class WithoutWriteSignals {
 public:
  WithoutWriteSignals() noexcept {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGPIPE);
    sigaddset(&ours_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending, signal) == 1)
        sigdelset(&ours_, signal);  // it is blocked, and not ours to take
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~WithoutWriteSignals() {
    const int error = errno;
    const timespec now{0, 0};
    while (sigtimedwait(&ours_, nullptr, &now) > 0 || errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WithoutWriteSignals(const WithoutWriteSignals&) = delete;
  WithoutWriteSignals& operator=(const WithoutWriteSignals&) = delete;

 private:
  sigset_t ours_, before_;
};

}  // namespace ferry::detail
