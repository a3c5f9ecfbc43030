// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "ferry/device.hpp"

namespace ferry {

/// As MakeDevice takes it, and errors show it.
inline std::string Name(const Device& device) {
  return device.properties().backend + ':' + std::to_string(device.properties().index);
}

/// Whether streams of one can wait for events of the other.
inline bool SameBackend(const Device& a, const Device& b) {
  return &a == &b || a.properties().backend == b.properties().backend;
}

}  // namespace ferry
