// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "ferry/device.hpp"

namespace ferry::detail {

/// Throws std::invalid_argument, which names `call`, for a null pointer to more than no bytes.
inline void RequirePointers(const char* call, std::initializer_list<Touch> touches) {
  int number = 0;
  for (const Touch& touch : touches) {
    ++number;
    if (touch.ptr == nullptr && touch.bytes != 0)
      throw std::invalid_argument(std::string("ferry::") + call + ": pointer " + std::to_string(number) +
                                  " of " + std::to_string(touches.size()) +
                                  " is null; take it from place.Read, ReadWrite or Overwrite");
  }
}

/// The same, and for n < 0.
inline void RequireOperands(const char* call, std::int64_t n, std::initializer_list<Touch> touches) {
  if (n < 0)
    throw std::invalid_argument(std::string("ferry::") + call + ": n is " + std::to_string(n) +
                                "; it counts elements, and is 0 or more");
  if (n != 0) RequirePointers(call, touches);
}

}  // namespace ferry::detail
