// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/seeing/words.hpp"
#include "ferry/device.hpp"

namespace ferry::detail {

/// Numbers of the host and of devices. A device is known by its backend and index: by its address, a later
/// one could be taken for it.
class Spaces {
 public:
  static constexpr std::size_t kHost = 0;

  /// Null is the host. Throws std::bad_alloc.
  std::size_t NumberOf(const Device* device) {
    if (device == nullptr) return kHost;
    const DeviceProperties& own = device->properties();
    std::size_t number = kHost + 1;
    while (number != spaces_.size() && !spaces_[number].Is(own)) ++number;
    if (number == spaces_.size()) spaces_.push_back({own.backend, own.index, NameOfSpace(device)});
    return number;
  }
  const std::string& NameOf(std::size_t number) const { return spaces_[number].name; }

 private:
  struct Space {
    bool Is(const DeviceProperties& other) const noexcept {
      return index == other.index && backend == other.backend;
    }
    std::string backend;
    int index;
    std::string name;
  };
  std::vector<Space> spaces_{{{}, 0, NameOfSpace(nullptr)}};
};

}  // namespace ferry::detail
