// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "ferry/device.hpp"

namespace ferry::sim {

/// sim::Launch for a bare handle: DeviceProperties::launch.
void LaunchHostCode(StreamHandle on, std::vector<const void*> touches, std::function<void()> code);
/// sim::BeginCapture and EndCapture for a bare handle.
void SetCapture(StreamHandle on, bool capturing);

}  // namespace ferry::sim
