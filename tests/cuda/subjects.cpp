// SPDX-License-Identifier: BSD-2-Clause
// The suite of tests/contract, for each GPU, bare and in each adaptor.
#include "tests/contract/subjects.hpp"

#include "ferry/checked_device.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/statistics_device.hpp"
#include "gpus.hpp"

namespace ferry::contract {
namespace {

template <class Adaptor>
std::unique_ptr<Device> Inside(int gpu) {
  return std::make_unique<Adaptor>(cuda::kBackend.make(gpu));
}

constexpr std::pair<const char*, std::unique_ptr<Device> (*)(int)> kStacks[] = {
    {"bare", [](int gpu) { return cuda::kBackend.make(gpu); }},
    {"statistics", Inside<StatisticsDevice>},
    {"pooled", Inside<PooledDevice>},
    {"checked", Inside<CheckedDevice>},
    {"MakeDevice", [](int gpu) { return MakeDevice("cuda:" + std::to_string(gpu)); }},
};

}  // namespace

std::vector<Subject> Subjects() {
  std::vector<Subject> subjects;
  for (int gpu = 0, count = cuda::CountGpus(); gpu < count; ++gpu)
    for (const auto& [stack, make] : kStacks)
      subjects.push_back({.name = "cuda:" + std::to_string(gpu) + ", " + stack,
                          .seed = 0,
                          .make = [make, gpu] { return make(gpu); },
                          .drain = [gpu] { cuda::Drain(gpu); },
                          .faults = cuda::LastError});
  return subjects;
}

}  // namespace ferry::contract
