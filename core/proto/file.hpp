// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace ferry::detail {

/// What the system said of `what` was wrong: an Error with the path and errno's text.
[[noreturn]] void ThrowSystemError(const char* what, const std::filesystem::path& file, int error);

/// A file that is open, and closed again.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// The bytes of a file of at most `most` bytes. Throws Error.
std::string ReadFile(const std::filesystem::path& file, std::size_t most);

/// A file that is written beside the one whose place it takes at Commit, or goes without.
class NewFile {
 public:
  /// Throws Error, also where `file` is there and not a regular file.
  explicit NewFile(const std::filesystem::path& file);
  ~NewFile();
  int descriptor() const noexcept { return descriptor_.get(); }
  void Commit();

 private:
  int Create();

  const std::filesystem::path target_;
  std::filesystem::path written_;  ///< empty once it is in its place
  Descriptor descriptor_;
};

}  // namespace ferry::detail
