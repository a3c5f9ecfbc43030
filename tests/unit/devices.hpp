// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace ferry::testing {

/// The devices on which a program's tests run, for MakeDevice. Each program defines it: those of tests/unit
/// for the host and the simulated GPU, those of tests/gpu for the GPUs that it finds.
std::vector<std::string> Devices();

}  // namespace ferry::testing
