// SPDX-License-Identifier: BSD-2-Clause
#include "sim_backend.hpp"

#include <exception>
#include <memory>
#include <string>

#include "backends/gpu/describe.hpp"
#include "machine.hpp"
#include "sim_device.hpp"

namespace ferry::sim {

constinit const Backend kBackend = {
    .name = "sim",
    .count =
        []() noexcept {
          try {
            return Machine::The().device_count();
          } catch (const std::exception&) {
            return 0;
          }
        },
    .describe = gpu::Describe<SimRuntime>,
    .make = [](int index) -> std::unique_ptr<Device> { return std::make_unique<SimDevice>(index); },
    .pooled = false,  // it would hide the uses of freed memory
    .missing =
        [] {
          return std::string("512 GiB of address space, which a limit (ulimit -v, -l, -f or -n) denies");
        },
};

}  // namespace ferry::sim
