// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/backend.hpp"

namespace ferry::host {

extern const Backend kBackend;

}  // namespace ferry::host
