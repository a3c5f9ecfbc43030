// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ferry/log.hpp"

namespace ferry::testing {

/// Takes what is logged from a level on, in place of stderr, while it lives. One at a time.
class LogLines {
 public:
  explicit LogLines(LogLevel from = LogLevel::kWarning) {
    SetLogLevel(from);
    SetLogSink([this](LogLevel, std::string_view line) { lines_.emplace_back(line); });
  }
  ~LogLines() {
    SetLogSink({});
    SetLogLevel(before_);
  }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }
  std::vector<std::string> Take() { return std::exchange(lines_, {}); }
  bool Has(std::string_view part) const {
    return std::ranges::any_of(lines_,
                               [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }

 private:
  const LogLevel before_ = log_level();
  std::vector<std::string> lines_;
};

}  // namespace ferry::testing
