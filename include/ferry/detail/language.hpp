// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// Reached by each public header, so that the first error in an older language says what is needed.
#if __cplusplus < 202002L
#error "Ferry needs C++20: compile with -std=c++20; a target that links ferry::ferry in CMake does"
#endif
