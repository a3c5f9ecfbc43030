// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/device.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {

/// A pool may be unable to trim while a stream is captured: then it keeps what it has.
inline void TrimAsFarAsPossible(Device& device) try { device.Trim(); } catch (const StreamCaptureError&) {
}

}  // namespace ferry::detail
