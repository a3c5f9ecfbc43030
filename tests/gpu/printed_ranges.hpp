// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <cstdio>

/// A profiler that prints what it is shown.
namespace ferry::testing {

inline std::uint64_t BeginRange(const char* text) {
  static unsigned ranges = 0;
  std::printf("range %u begins: %s\n", ++ranges, text);
  return ranges;
}
inline void EndRange(std::uint64_t range) { std::printf("range %u ends\n", static_cast<unsigned>(range)); }
inline void Mark(const char* text) { std::printf("mark: %s\n", text); }

}  // namespace ferry::testing
