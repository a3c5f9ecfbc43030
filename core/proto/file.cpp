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

#include "core/descriptor.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

/// By which a file without a name gets one. The thread's own, as descriptors may be.
std::string ProcPath(int fd) { return "/proc/thread-self/fd/" + std::to_string(fd); }

/// A file for writing that has no name, and is gone with the process unless it gets one. Below 0 where the
/// system, the folder's file system or a missing /proc makes that impossible.
int OpenUnnamed(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  const int fd =
      BeyondStandard(::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (fd < 0 || ::access(ProcPath(fd).c_str(), F_OK) == 0) return fd;
  ::close(fd);
#else
  static_cast<void>(folder);
#endif
  return -1;
}

}  // namespace

void ThrowSystemError(const std::string& where, const char* what, int error) {
  throw Error(where + ": cannot " + what + ": " + std::generic_category().message(error));
}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::string ReadFile(const std::filesystem::path& file, std::size_t most, const std::string& where) {
  const OpenFile in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (in.get() < 0 || ::fstat(in.get(), &status) != 0) ThrowSystemError(where, "open", errno);
  // One byte more than there should be, so that the end is seen; a pipe has no size, and grows.
  auto room = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0)) + 1;
  std::string bytes;
  std::size_t length = 0;
  for (ssize_t got = 1; got != 0;) {
    if (length > most || room > most + 1)
      throw Error(where + ": it has more than " + std::to_string(most) +
                  " bytes, the most that protobuf reads");
    bytes.resize(room);
    got = ::read(in.get(), bytes.data() + length, room - length);
    if (got < 0 && errno != EINTR) ThrowSystemError(where, "read", errno);
    length += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (length == room) room = std::min(2 * room + 4096, most + 1);
  }
  bytes.resize(length);
  return bytes;
}

std::filesystem::path WhereLinksLead(const std::filesystem::path& file, const std::string& where) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::filesystem::path target = file;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(target, error)); ++links) {
    if (links == kMostLinks) ThrowSystemError(where, "write", ELOOP);
    const std::filesystem::path led = std::filesystem::read_symlink(target, error);
    if (error) ThrowSystemError(where, "write", error.value());
    target = target.parent_path() / led;
  }
  return target;
}

NewFile::NewFile(const std::filesystem::path& file, const std::string& where)
    : where_(where), target_(WhereLinksLead(file, where)), descriptor_(Create()) {}

/// Has `make` make a file beside the target, by a name that is free. Returns what it does.
template <class F>
int NewFile::Beside(const F& make) {
  static std::atomic<unsigned> number{0};
  int made = -1;
  do {
    written_ = target_;
    written_.replace_filename(".ferry-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    made = make(written_.c_str());
  } while (made < 0 && errno == EEXIST);
  if (made < 0) ThrowSystemError(where_, "create", errno);
  return made;
}

int NewFile::Create() {
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) ThrowSystemError(where_, "create", errno);  // such as too long a name
  if (replaces && !S_ISREG(old.st_mode))
    throw Error(where_ + ": cannot write: not a regular file; write to a pipe or a device by a stream");
  // A rename asks for the folder's permission alone; the file's own is asked for like this.
  if (replaces && OpenFile(::open(target_.c_str(), O_WRONLY | O_CLOEXEC)).get() < 0)
    ThrowSystemError(where_, "write", errno);
  int fd = OpenUnnamed(target_.parent_path());
  if (fd < 0)
    fd = Beside([](const char* name) {
      return BeyondStandard(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    });
  if (replaces) static_cast<void>(::fchmod(fd, old.st_mode & 07777));  // a file system without modes refuses
  return fd;
}

NewFile::~NewFile() {
  if (!written_.empty()) ::unlink(written_.c_str());
}

void NewFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(descriptor(), bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) ThrowSystemError(where_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(wrote, 0)));
  }
}

/// Without a name, where there is no old file, by giving it that of the target.
void NewFile::TakePlace() {
  if (written_.empty()) {
    const std::string unnamed = ProcPath(descriptor());
    const auto link = [&](const char* name) {
      return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    };
    if (link(target_.c_str()) == 0) return;
    if (errno != EEXIST) ThrowSystemError(where_, "create", errno);
    Beside(link);
  }
  if (::rename(written_.c_str(), target_.c_str()) != 0) ThrowSystemError(where_, "rename into place", errno);
  written_.clear();
}

void NewFile::CommitAll(std::initializer_list<NewFile*> files) {
  for (const NewFile* const file : files)
    if (::fsync(file->descriptor()) != 0) ThrowSystemError(file->where_, "write", errno);
  for (NewFile* const file : files) file->TakePlace();
}

}  // namespace ferry::detail
