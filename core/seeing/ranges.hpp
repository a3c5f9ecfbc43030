// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ferry/backend.hpp"
#include "ferry/observer.hpp"

namespace ferry::detail {

/// Gives a profiler a range for each copy, while it is queued, and a mark for each access that did not find
/// its bytes in place, with label and site.
std::shared_ptr<Observer> RangesOf(const ProfilerRanges& profiler);

/// By the value of FERRY_RANGES, with the first backend that has ranges. Null where none are wanted, or there
/// are none, which is a warning.
std::shared_ptr<Observer> RangesOfProgram(const std::string& wanted, std::span<const Backend> backends);

}  // namespace ferry::detail
