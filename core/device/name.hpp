// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "ferry/device.hpp"
#include "ferry/site.hpp"

namespace ferry {

/// As MakeDevice takes it, and errors show it.
inline std::string Name(const Device& device) {
  return device.properties().backend + ':' + std::to_string(device.properties().index);
}

/// `Step (step.cpp:34)`: the function, and the file without its folders.
inline std::string Name(const Site& site) {
  const std::string_view file = site.file();
  return std::string(site.function()) + " (" + std::string(file.substr(file.rfind('/') + 1)) + ':' +
         std::to_string(site.line()) + ')';
}

/// A label as words show it, on one line whatever is in it.
inline std::string Quoted(std::string_view label) {
  std::string quoted = '"' + std::string(label) + '"';
  std::replace_if(
      quoted.begin(), quoted.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return quoted;
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
