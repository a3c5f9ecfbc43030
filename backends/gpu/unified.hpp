// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "ferry/error.hpp"

namespace ferry::gpu {

/// DeviceProperties::unified: what the hardware suggests, or what the environment variable FERRY_UNIFIED (0
/// or 1) says instead; and never where the host may not use managed memory while kernels run. Throws Error
/// for another value.
inline bool Unified(bool suggested, bool possible) {
  const char* const value = std::getenv("FERRY_UNIFIED");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view said = value == nullptr ? "" : value;
  if (said != "" && said != "0" && said != "1")
    throw Error("FERRY_UNIFIED=" + std::string(said) + ": 0 or 1 is meant");
  return possible && (said == "" ? suggested : said == "1");
}

}  // namespace ferry::gpu
