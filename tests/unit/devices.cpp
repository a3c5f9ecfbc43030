// SPDX-License-Identifier: BSD-2-Clause
#include "tests/unit/devices.hpp"

namespace ferry::testing {

std::vector<std::string> Devices() { return {"host", "sim"}; }

}  // namespace ferry::testing
