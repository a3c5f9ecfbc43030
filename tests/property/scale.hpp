// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdlib>

namespace ferry::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kUsualScale = 0.02;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr double kUsualScale = 0.02;
#else
inline constexpr double kUsualScale = 1;
#endif
#else
inline constexpr double kUsualScale = 1;
#endif

/// How much of the property tests is run: 1 is all of it, and usual where no sanitizer slows them down.
/// The environment variable FERRY_TEST_SCALE says otherwise.
inline double Scale() {
  const char* const said = std::getenv("FERRY_TEST_SCALE");
  return said != nullptr ? std::atof(said) : kUsualScale;
}

}  // namespace ferry::testing
