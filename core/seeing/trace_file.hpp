// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "core/seeing/output_file.hpp"

namespace ferry::detail {

/// An array of JSON that grows: readers of traces take it without its end, too. One thread at a time.
class TraceFile {
 public:
  /// Replaces the file. Throws Error, which names it and says why.
  explicit TraceFile(std::string path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Whether this process has opened it, rather than one that was forked since. Any thread may call.
  bool ours() const noexcept { return process_ == getpid(); }
  /// Whether nothing is kept any more.
  bool closed() const noexcept { return file_ == nullptr; }

  /// The text of the next event is appended to what this returns.
  std::string& Next();
  /// What there is by now is whole.
  void Keep() noexcept {
    whole_ = text_.size();
    was_empty_ = empty_;
  }
  /// Takes back what has been added since, of which the last event may be there in part.
  void Drop() noexcept {
    text_.resize(whole_);
    empty_ = was_empty_;
  }
  /// Writes what has been collected, if that is enough. After the first failure nothing is kept any more.
  void WriteSome() noexcept;
  /// Writes the array's end.
  void End();
  /// The warning of a failure, once; else empty. The log's sink is the program's: call it without a lock.
  std::string TakeWarning() noexcept { return std::exchange(warning_, {}); }

 private:
  using Clock = std::chrono::steady_clock;
  /// Whether the program has left the file open. Where it has closed it, the descriptor may be one that it
  /// has opened since, of this file even: that one stands elsewhere in it.
  bool IsOpen() const noexcept;
  void Write() noexcept;
  void Fail() noexcept;

  static constexpr std::size_t kEnough = std::size_t{64} * 1024;
  const std::string path_;
  const pid_t process_ = getpid();
  OutputFile file_;  ///< null after the end, or a failure
  struct stat opened_ {};
  off_t bytes_ = 0;  ///< written
  std::string text_;
  std::size_t whole_ = 0;  ///< of text_, at the last Keep
  std::string warning_;
  bool empty_ = true, was_empty_ = true;
  Clock::time_point written_ = Clock::now();
};

}  // namespace ferry::detail
