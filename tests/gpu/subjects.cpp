// SPDX-License-Identifier: BSD-2-Clause
// The suite of tests/contract, for each GPU, bare and in each adaptor.
#include "tests/contract/subjects.hpp"

#include "ferry/checked_device.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/statistics_device.hpp"
#include "tests/gpu/gpus.hpp"

namespace ferry::contract {
namespace {

template <class Adaptor>
std::unique_ptr<Device> Inside(int gpu) {
  return std::make_unique<Adaptor>(vendor::kBackend.make(gpu));
}

constexpr std::pair<const char*, std::unique_ptr<Device> (*)(int)> kStacks[] = {
    {"bare", [](int gpu) { return vendor::kBackend.make(gpu); }},
    {"statistics", Inside<StatisticsDevice>},
    {"pooled", Inside<PooledDevice>},
    {"checked", Inside<CheckedDevice>},
    {"MakeDevice", [](int gpu) { return MakeDevice(testing::NameOf(gpu)); }},
};

}  // namespace

std::vector<Subject> Subjects() {
  std::vector<Subject> subjects;
  for (int gpu = 0, count = testing::CountGpus(); gpu < count; ++gpu)
    for (const auto& [stack, make] : kStacks)
      subjects.push_back({.name = testing::NameOf(gpu) + ", " + stack,
                          .seed = 0,
                          .make = [make = make, gpu] { return make(gpu); },
                          .drain = [gpu] { testing::Drain(gpu); },
                          .faults = testing::LastError,
                          .index = gpu,
                          .simulated = testing::AreSimulated()});
  return subjects;
}

}  // namespace ferry::contract
