// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "ferry/operand.hpp"

namespace ferry::detail {

/// Elements first ... first + count - 1 of a part of Ts.
template <class T>
Part Slice(const Part& part, std::int64_t first, std::int64_t count) {
  Part slice{part.memory, part.range, count, {}};
  slice.range.first += static_cast<std::size_t>(first) * sizeof(T);
  slice.range.bytes = static_cast<std::size_t>(count) * sizeof(T);
  return slice;
}

}  // namespace ferry::detail
