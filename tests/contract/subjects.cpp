// SPDX-License-Identifier: BSD-2-Clause
#include "tests/contract/subjects.hpp"

#include <utility>

#include "backends/gpu/current_device_by.hpp"
#include "backends/gpu/stream_pool.hpp"
#include "backends/host/host_backend.hpp"
#include "backends/sim/sim_backend.hpp"
#include "backends/sim/sim_runtime.hpp"
#include "ferry/backend.hpp"
#include "ferry/checked_device.hpp"
#include "ferry/forwarding_device.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/sim.hpp"
#include "ferry/statistics_device.hpp"

namespace ferry::contract {
namespace {

using Wrap = std::function<std::unique_ptr<Device>(const Backend&)>;

template <class Adaptor>
std::unique_ptr<Device> Inside(const Backend& backend) {
  return std::make_unique<Adaptor>(backend.make(0));
}

const std::pair<const char*, Wrap> kStacks[] = {
    {"bare", [](const Backend& backend) { return backend.make(0); }},
    {"forwarding", Inside<ForwardingDevice>},
    {"full forwarding", Inside<FullForwardingDevice>},
    {"statistics", Inside<StatisticsDevice>},
    {"pooled", Inside<PooledDevice>},
    {"checked", Inside<CheckedDevice>},
    {"MakeDevice", [](const Backend& backend) { return MakeDevice(backend.name); }},
};

/// As the vendors' backends are made.
std::unique_ptr<Device> InStreamPool(const Backend& backend) {
  return std::make_unique<gpu::StreamPoolDevice>(backend.make(0),
                                                 gpu::CurrentDeviceBy<sim::SimRuntime>::StateOf);
}

Subject OnHost(const char* stack, const Wrap& wrap) {
  return {.name = std::string("host, ") + stack,
          .seed = 0,
          .make = [wrap] { return wrap(host::kBackend); },
          .drain = [] {},
          .faults = [] { return std::string(); }};
}

Subject OnSim(const char* stack, const Wrap& wrap, bool unified, std::uint64_t seed) {
  return {.name = std::string(unified ? "unified sim, " : "sim, ") + stack,
          .seed = seed,
          .make =
              [wrap, unified, seed] {
                sim::Reset({.seed = seed, .unified = unified});
                return wrap(sim::kBackend);
              },
          .drain = sim::Drain,
          .faults = SimFaults};
}

}  // namespace

std::string SimFaults() {
  std::string faults;
  const sim::Report report = sim::Inspect();
  for (const auto* list : {&report.misuse, &report.leaks})
    for (const std::string& fault : *list) faults += fault + '\n';
  return faults;
}

std::vector<Subject> Subjects() {
  constexpr std::uint64_t kSeeds = 8;
  std::vector<Subject> subjects;
  for (const auto& [stack, wrap] : kStacks) {
    subjects.push_back(OnHost(stack, wrap));
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
      for (const bool unified : {false, true}) subjects.push_back(OnSim(stack, wrap, unified, seed));
  }
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    subjects.push_back(OnSim("stream pool", InStreamPool, false, seed));
  return subjects;
}

}  // namespace ferry::contract
