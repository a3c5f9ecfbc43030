// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

namespace ferry::detail {

/// An array of JSON that grows: readers of traces take it without its end, too. One thread at a time.
class TraceFile {
 public:
  /// Replaces the file. Throws Error, which names it and says why.
  explicit TraceFile(std::string path);
  /// Writes the array's end.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// The text of the next event is appended to what this returns.
  std::string& Next();
  /// Writes what has been collected, if that is enough. After the first failure, which is warned of, nothing
  /// is kept any more.
  void WriteSome();

 private:
  using Clock = std::chrono::steady_clock;
  struct Close {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };
  void Write();
  void Fail() noexcept;

  static constexpr std::size_t kEnough = std::size_t{64} * 1024;
  const std::string path_;
  std::unique_ptr<std::FILE, Close> file_;  ///< null after a failure
  std::string text_;
  bool empty_ = true;
  Clock::time_point written_ = Clock::now();
};

}  // namespace ferry::detail
