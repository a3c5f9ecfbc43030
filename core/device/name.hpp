// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
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

/// Whether copies on a stream of `device` can read memory of `other`.
inline bool Reaches(const Device& device, const Device& other) {
  if (&device == &other) return true;
  const auto& peers = device.properties().peers;
  return SameBackend(device, other) &&
         std::find(peers.begin(), peers.end(), other.properties().index) != peers.end();
}

}  // namespace ferry
