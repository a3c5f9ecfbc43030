// SPDX-License-Identifier: BSD-2-Clause
#include "sim_device.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "machine.hpp"

namespace ferry::sim {
namespace {

/// Never destroyed: devices may be, until the very end. Locked before the machine.
struct All {
  std::mutex mutex;
  std::vector<SimDevice*> devices;
  static All& instance() {
    static auto* const all = new All;
    return *all;
  }
};

void ResetMachine(const Options& options) {
  Lock lock(Machine::The().mutex);
  Machine::The().Reset(options, lock);
}

}  // namespace

SimDevice::SimDevice(int index) : GpuDevice(index) {
  const std::lock_guard lock(All::instance().mutex);
  All::instance().devices.push_back(this);
}
SimDevice::~SimDevice() {
  const std::lock_guard lock(All::instance().mutex);
  std::erase(All::instance().devices, this);
}

/// They look at a machine without faults, and what they ask of it is not counted.
void SimDevice::RenewAll(const Options& options) {
  const std::lock_guard lock(All::instance().mutex);
  const auto& devices = All::instance().devices;
  if (!devices.empty()) {
    Options faultless = options;
    faultless.fail_at = 0;
    ResetMachine(faultless);
    for (SimDevice* device : devices)
      if (device->properties().index < std::max(1, options.devices)) device->Renew();
  }
  ResetMachine(options);
}

std::set<std::uintptr_t> SimDevice::KeptEvents() {
  std::set<std::uintptr_t> kept;
  const std::lock_guard lock(All::instance().mutex);
  for (const SimDevice* device : All::instance().devices)
    device->queues().EachKept(
        [&](SimRuntime::Event event) { kept.insert(reinterpret_cast<std::uintptr_t>(event)); });
  return kept;
}

}  // namespace ferry::sim
