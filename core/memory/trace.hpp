// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/trace.hpp"

namespace ferry::detail {

/// Passes the record to the observer, or to the log where there is none.
void Observe(const AccessRecord& record) noexcept;

}  // namespace ferry::detail
