// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sstream>

#include "ferry/log.hpp"

namespace ferry::detail {

/// Whether anybody reads what LogInfo says.
inline bool LogsInfo() noexcept { return log_level() <= LogLevel::kInfo; }

/// One line of what a solver tells of itself, of parts as a stream shows them. Makes none that nobody reads.
template <class... Parts>
void LogInfo(const Parts&... parts) {
  if (!LogsInfo()) return;
  std::ostringstream line;
  (line << ... << parts);
  Log(LogLevel::kInfo, line.str());
}

}  // namespace ferry::detail
