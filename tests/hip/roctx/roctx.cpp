// SPDX-License-Identifier: BSD-2-Clause
// The library libroctx64.so.4 for where there is none.
#include <roctracer/roctx.h>

#include "tests/gpu/printed_ranges.hpp"

std::uint64_t roctxRangeStartA(const char* message) { return ferry::testing::BeginRange(message); }
void roctxRangeStop(std::uint64_t range) { ferry::testing::EndRange(range); }
void roctxMarkA(const char* message) { ferry::testing::Mark(message); }
