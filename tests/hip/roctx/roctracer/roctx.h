// SPDX-License-Identifier: BSD-2-Clause
// What Ferry calls of roctracer's library of this name.
#pragma once

#include <cstdint>

extern "C" {
std::uint64_t roctxRangeStartA(const char* message);
void roctxRangeStop(std::uint64_t range);
void roctxMarkA(const char* message);
}
