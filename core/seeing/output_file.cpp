// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <system_error>

#include "core/descriptor.hpp"

namespace ferry::detail {
namespace {

/// Readable and writable by all whom the umask leaves it, as fopen makes files.
constexpr mode_t kMode = 0666;

/// If it is a regular file. Who cannot lock, as on some networks, goes on without.
bool LockAndEmpty(int file) noexcept {
  struct stat there {};
  if (fstat(file, &there) != 0 || !S_ISREG(there.st_mode)) return true;
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return ftruncate(file, 0) == 0;
}

}  // namespace

std::FILE* PrintedTo(const std::string& path) noexcept {
  struct stat there {};
  struct stat its {};
  if (stat(path.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return nullptr;
  for (std::FILE* const output : {stdout, stderr})
    if (fstat(fileno(output), &its) == 0 && its.st_dev == there.st_dev && its.st_ino == there.st_ino)
      return output;
  return nullptr;
}

bool Print(std::FILE* output, std::string_view text) noexcept {
  if (std::fflush(output) != 0) return false;
  while (!text.empty()) {
    const ssize_t written = write(fileno(output), text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return true;
}

OutputFile OpenToWrite(const std::string& path) noexcept {
  const int file = BeyondStandard(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, kMode));
  if (file < 0) return nullptr;
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);  // writes wait for a slow reader
  OutputFile stream(LockAndEmpty(file) ? fdopen(file, "wb") : nullptr);
  if (stream == nullptr) {
    const int error = errno;
    close(file);
    errno = error;
  }
  return stream;
}

/// A process that was forked meanwhile has the file, too, and would keep the lock.
bool Close(OutputFile file) noexcept {
  const bool written = std::fflush(file.get()) == 0;
  flock(fileno(file.get()), LOCK_UN);
  return std::fclose(file.release()) == 0 && written;
}

std::string WhyNotWritten() {
  return errno == EWOULDBLOCK
             ? "it is being written by another one; in the variables, %p stands for the process"
             : std::generic_category().message(errno);
}

bool MayBeWritten(const std::string& path) noexcept {
  struct stat there {};
  // A pipe's reader would take what is opened and closed for its end.
  if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    errno = EISDIR;
    return !S_ISDIR(there.st_mode) && access(path.c_str(), W_OK) == 0;
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  return file >= 0 && close(file) == 0;
}

}  // namespace ferry::detail
