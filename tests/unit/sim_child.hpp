// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstddef>
#include <functional>
#include <string>

namespace ferry::testing {

/// How a process ended.
struct Ended {
  int signal;          ///< that ended it, or 0
  int status;          ///< with which it ended otherwise
  std::string errors;  ///< what it wrote to stderr
};

/// Does this in a child process, past Catch2's and the sanitizers' handlers of SIGSEGV. One that returns has
/// the status 0.
inline Ended InChild(const std::function<void()>& deed) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return {0, -1, "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    std::signal(SIGSEGV, SIG_DFL);
    alarm(30);  // one that hangs ends, too
    deed();
    _exit(0);
  }
  close(pipe_ends[1]);
  Ended ended{0, 0, ""};
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;)
    ended.errors.append(buffer.data(), static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ended.status = WEXITSTATUS(status);
  return ended;
}

/// The signal that ends a child process that does this, or 0.
inline int SignalOf(const std::function<void()>& deed) { return InChild(deed).signal; }

inline void Touch(const void* ptr, std::ptrdiff_t at = 0) {
  (void)static_cast<const volatile std::byte*>(ptr)[at];
}

/// What one says that may only end by SIGSEGV.
inline std::string ReportOf(const Ended& ended) {
  CHECK(ended.signal == SIGSEGV);
  return ended.errors;
}
/// That it ended by itself, without a word.
inline void CheckPassed(const Ended& ended) {
  CHECK(ended.signal == 0);
  CHECK(ended.errors.empty());
}

}  // namespace ferry::testing
