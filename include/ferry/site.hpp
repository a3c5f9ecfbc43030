// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/detail/language.hpp"

namespace ferry {

/// A line of a program's source. A value; any thread may use it. The names are the program's own strings, as
/// those of std::source_location are: a library that is unloaded (dlclose) takes those of its lines along.
/// See docs/explanation/lifetime.md.
class Site {
 public:
  /// As the default argument of a function: where that function is called.
  static Site Caller(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                     const char* function = __builtin_FUNCTION()) noexcept {
    return {file, function, line};
  }

  constexpr const char* file() const noexcept { return file_; }          ///< as the compiler was given it
  constexpr int line() const noexcept { return line_; }                  ///< counted from 1
  constexpr const char* function() const noexcept { return function_; }  ///< without its class and arguments

 private:
  Site(const char* file, const char* function, int line) noexcept
      : file_(file), function_(function), line_(line) {}

  const char* file_;
  const char* function_;
  int line_;
};

}  // namespace ferry
