// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "ferry/detail/language.hpp"

namespace ferry::detail {

/// Throws std::invalid_argument, which names `call`, for n < 0.
inline void RequireCount(const char* call, std::int64_t n) {
  if (n < 0)
    throw std::invalid_argument(std::string("ferry::") + call + ": n is " + std::to_string(n) +
                                "; it counts elements, and is 0 or more");
}

}  // namespace ferry::detail
