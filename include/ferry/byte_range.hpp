// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "ferry/detail/language.hpp"

namespace ferry {

/// Bytes of a memory: `bytes` from number `first` on. ByteRange{} is the whole.
struct ByteRange {
  static constexpr std::size_t kRest = ~std::size_t{0};  ///< as far as the memory goes
  std::size_t first = 0;                                 ///< counted from 0
  std::size_t bytes = kRest;                             ///< how many
};

}  // namespace ferry
