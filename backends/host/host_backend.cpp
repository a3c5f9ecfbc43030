// SPDX-License-Identifier: BSD-2-Clause
#include "backends/host/host_backend.hpp"

#include "backends/host/host_device.hpp"

namespace ferry::host {

constinit const Backend kBackend = {
    .name = "host",
    .count = []() noexcept { return 1; },
    .describe = [](int) { return HostDevice().properties(); },
    .make = [](int) -> std::unique_ptr<Device> { return std::make_unique<HostDevice>(); },
    .pooled = false,
};

}  // namespace ferry::host
