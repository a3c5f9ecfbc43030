// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ferry/device.hpp"

namespace ferry::contract {

/// A device that must keep the contract, and what surrounds it. A new backend is one more line in
/// subjects.cpp.
struct Subject {
  std::string name;
  std::uint64_t seed;  ///< of the order in which streams run, where that can be chosen
  std::function<std::unique_ptr<Device>()> make;  ///< in a fresh machine
  std::function<void()> drain;                    ///< waits for all work, of streams that are gone too
  std::function<std::string()> faults;            ///< what was done wrong or not given back; empty is good
  int index = 0;                                  ///< among its backend's devices
  bool simulated = true;                          ///< or the host: else no more managed memory than is free
};

/// Each bare device, each adaptor on each, and the stack of MakeDevice.
std::vector<Subject> Subjects();

/// What the simulated machine found wrong or not given back.
std::string SimFaults();

}  // namespace ferry::contract
