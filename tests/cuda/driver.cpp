// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/are_simulated.hpp"

bool ferry::testing::AreSimulated() { return false; }
