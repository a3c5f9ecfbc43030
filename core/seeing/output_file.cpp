// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/output_file.hpp"

#include <fcntl.h>
#include <poll.h>
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

/// What is written to both would be mixed. Devices take it as it comes.
bool AreOneText(const struct stat& a, const struct stat& b) noexcept {
  const bool keeps = S_ISREG(a.st_mode) || S_ISFIFO(a.st_mode) || S_ISSOCK(a.st_mode);
  return keeps && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// After a write that failed: whether to try again. Waits where the reader of a pipe has to make room.
bool MayGoOn(int file) noexcept {
  if (errno == EAGAIN) {
    pollfd room{file, POLLOUT, 0};
    return poll(&room, 1, -1) > 0 || errno == EINTR;
  }
  return errno == EINTR;
}

}  // namespace

std::FILE* PrintedTo(const std::string& path) noexcept {
  struct stat there {};
  struct stat its {};
  if (stat(path.c_str(), &there) != 0) return nullptr;
  for (std::FILE* const output : {stdout, stderr})
    if (fstat(fileno(output), &its) == 0 && AreOneText(there, its)) return output;
  return nullptr;
}

bool AreOne(const std::string& path, const std::string& other) noexcept {
  struct stat there {};
  struct stat its {};
  return stat(path.c_str(), &there) == 0 && stat(other.c_str(), &its) == 0 && AreOneText(there, its);
}

bool Print(std::FILE* output, std::string_view text) noexcept {
  const int file = fileno(output);
  while (std::fflush(output) != 0)
    if (!MayGoOn(file)) return false;
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && !MayGoOn(file)) return false;
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
