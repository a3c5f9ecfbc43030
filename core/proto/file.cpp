// SPDX-License-Identifier: BSD-2-Clause
#include "core/proto/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

/// Where a link leads: the file there is replaced, or made, and the link stays.
std::filesystem::path Target(const std::filesystem::path& file) {
  std::error_code none;
  std::filesystem::path target = std::filesystem::canonical(file, none);
  if (!none) return target;
  const std::filesystem::path led = std::filesystem::read_symlink(file, none);
  return none ? file : file.parent_path() / led;
}

}  // namespace

void ThrowSystemError(const char* what, const std::filesystem::path& file, int error) {
  throw Error(file.string() + ": cannot " + what + ": " + std::generic_category().message(error));
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string ReadFile(const std::filesystem::path& file, std::size_t most) {
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (in.get() < 0 || ::fstat(in.get(), &status) != 0) ThrowSystemError("open", file, errno);
  // One byte more than there should be, so that the end is seen; a pipe has no size, and grows.
  auto room = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) + 1;
  std::string bytes;
  std::size_t length = 0;
  for (ssize_t got = 1; got != 0;) {
    if (length > most || room > most + 1)
      throw Error(file.string() + ": more than the " + std::to_string(most) + " bytes that protobuf reads");
    bytes.resize(room);
    got = ::read(in.get(), bytes.data() + length, room - length);
    if (got < 0 && errno != EINTR) ThrowSystemError("read", file, errno);
    length += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (length == room) room = std::min(2 * room + 4096, most + 1);
  }
  bytes.resize(length);
  return bytes;
}

NewFile::NewFile(const std::filesystem::path& file) : target_(Target(file)), descriptor_(Create()) {}

int NewFile::Create() {
  static std::atomic<unsigned> number{0};
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode)) throw Error(target_.string() + ": cannot write: not a regular file");
  int fd = -1;
  do {
    written_ = target_;
    written_.replace_filename(".ferry-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    fd = ::open(written_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) ThrowSystemError("create", target_, errno);
  if (replaces) static_cast<void>(::fchmod(fd, old.st_mode & 07777));  // a file system without modes refuses
  return fd;
}

NewFile::~NewFile() {
  if (!written_.empty()) ::unlink(written_.c_str());
}

void NewFile::Commit() {
  if (::fsync(descriptor()) != 0) ThrowSystemError("write", target_, errno);
  if (::rename(written_.c_str(), target_.c_str()) != 0) ThrowSystemError("rename into place", target_, errno);
  written_.clear();
}

}  // namespace ferry::detail
