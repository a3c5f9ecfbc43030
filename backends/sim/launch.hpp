// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "ferry/device.hpp"
#include "ferry/sim.hpp"

namespace ferry::sim {

/// sim::Launch for a bare handle: DeviceProperties::launch.
void LaunchHostCode(int device, StreamHandle on, std::vector<Touch> touches, std::function<void()> code);
/// sim::BeginCapture and EndCapture for a bare handle.
void BeginCapture(StreamHandle on, CaptureMode mode);
void EndCapture(StreamHandle on);

}  // namespace ferry::sim
