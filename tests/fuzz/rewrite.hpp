// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/net.pb.h"

namespace ferry::testing {

/// Does with a net what is done before one is built, and writes and reads the result in both formats. Aborts
/// where that gives another net; a NetError ends it.
void Rewrite(NetParameter net);

/// Nothing of a run goes to stderr.
void SilenceLogs();

}  // namespace ferry::testing
