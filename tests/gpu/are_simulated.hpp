// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace ferry::testing {

/// Whether this program's GPUs are simulated. Real ones are not asked for more managed memory than is free:
/// some drivers hang.
bool AreSimulated();

}  // namespace ferry::testing
