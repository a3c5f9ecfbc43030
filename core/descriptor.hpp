// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ferry::detail {

/// A file that stays open, under a number beyond those of stdin, stdout and stderr: where a program has
/// closed one of these, the next file gets its number, and then what the program prints. Below 0 as `file`
/// is, or where there is no number left, with errno; `file` is closed then.
inline int BeyondStandard(int file) noexcept {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int beyond = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno == EINVAL ? EMFILE : errno;  // as where three are all that a limit allows
  close(file);
  errno = error;
  return beyond;
}

}  // namespace ferry::detail
