// SPDX-License-Identifier: BSD-2-Clause
#include "sim_device.hpp"

#include <algorithm>

#include "ferry/detail/registry.hpp"
#include "machine.hpp"

namespace ferry::sim {
namespace {

using Registry = detail::Registry<SimDevice>;

void ResetMachine(const Options& options) {
  Lock lock(Machine::The().mutex);
  Machine::The().Reset(options, lock);
}

}  // namespace

SimDevice::SimDevice(int index) : GpuDevice(index) { Registry::instance().Add(*this); }
SimDevice::~SimDevice() { Registry::instance().Remove(*this); }

/// The registry is locked before the machine. The devices look at a machine without faults, and what they ask
/// of it is not counted.
void SimDevice::RenewAll(const Options& options) {
  Registry::instance().With([&](const auto& devices) {
    if (!devices.empty()) {
      Options faultless = options;
      faultless.fail_at = 0;
      ResetMachine(faultless);
      for (SimDevice* device : devices)
        if (device->properties().index < std::max(1, options.devices)) device->Renew();
    }
    ResetMachine(options);
  });
}

Kept SimDevice::KeptByAll() {
  Kept kept;
  Registry::instance().With([&](const auto& devices) {
    for (const SimDevice* device : devices) {
      device->queues().EachKeptEvent(
          [&](SimRuntime::Event event) { kept.events.insert(reinterpret_cast<std::uintptr_t>(event)); });
      device->queues().EachFollower(
          [&](StreamHandle stream) { kept.streams.insert(static_cast<std::uintptr_t>(stream)); });
    }
  });
  return kept;
}

}  // namespace ferry::sim
