// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/backend.hpp"

namespace ferry::sim {

extern const Backend kBackend;

}  // namespace ferry::sim
