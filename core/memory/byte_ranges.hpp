// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/byte_range.hpp"

/// Of ranges of one memory, none of which has kRest bytes.
namespace ferry::detail {

inline bool Same(ByteRange a, ByteRange b) noexcept { return a.first == b.first && a.bytes == b.bytes; }
inline bool Within(ByteRange part, ByteRange whole) noexcept {
  return whole.first <= part.first && part.first + part.bytes <= whole.first + whole.bytes;
}
inline bool Meet(ByteRange a, ByteRange b) noexcept {
  return a.first < b.first + b.bytes && b.first < a.first + a.bytes;
}

}  // namespace ferry::detail
