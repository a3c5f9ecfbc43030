// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "ferry/observer.hpp"

namespace ferry::detail {

/// One line of one source, as the compiler was given it. Sources that are compiled apart may give a line
/// several addresses.
inline bool Same(const Site& a, const Site& b) noexcept {
  return a.line() == b.line() && a.file() == b.file();
}
inline bool Same(const std::optional<ferry::Write>& a, const std::optional<ferry::Write>& b) noexcept {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->access == b->access && Same(a->site, b->site);
}

}  // namespace ferry::detail
