// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ferry::detail {

/// An Error: `where`, which is the call and the path, and `what` could not be done, by errno's text.
[[noreturn]] void ThrowSystemError(const std::string& where, const char* what, int error);

/// A file that is open, and closed again.
class OpenFile {
 public:
  explicit OpenFile(int fd) noexcept : fd_(fd) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// The bytes of a file of at most `most` bytes. Throws Error; its text begins with `where`, here and below.
std::string ReadFile(const std::filesystem::path& file, std::size_t most, const std::string& where);

/// Where `file` leads by links: to a file that is replaced, or made, while the links stay.
std::filesystem::path WhereLinksLead(const std::filesystem::path& file, const std::string& where);

/// A file that takes the place of another one at Commit. Without Commit it disappears. Links to the other one
/// stay. Until Commit it has no name, so that it goes with the process, however that ends; where the system
/// or the file system has no such files, it is written beside the other one.
class NewFile {
 public:
  /// Throws Error, also where `file` is there and is not a regular file that may be written.
  NewFile(const std::filesystem::path& file, const std::string& where);
  ~NewFile();
  int descriptor() const noexcept { return descriptor_.get(); }
  void Write(std::string_view bytes);
  void Commit() { CommitAll({this}); }
  /// First all are synced; an error until then changes nothing. Then each takes its place, in this order; one
  /// that replaces an old file has a name beside it for a moment. Relative paths are resolved now.
  static void CommitAll(std::initializer_list<NewFile*> files);

 private:
  int Create();
  template <class F>
  int Beside(const F& make);
  void TakePlace();

  const std::string where_;
  const std::filesystem::path target_;
  std::filesystem::path written_;  ///< its path beside the target, while it has one
  OpenFile descriptor_;
};

}  // namespace ferry::detail
