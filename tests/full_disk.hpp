// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace ferry::testing {

/// No file of the process may grow beyond so many bytes while it lives: a disk that is full. The signal of a
/// write beyond it is ignored, or ends the process.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes, bool signal_ends = false)
      : handler_(std::signal(SIGXFSZ, signal_ends ? SIG_DFL : SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace ferry::testing
