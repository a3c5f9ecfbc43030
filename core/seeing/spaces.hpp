// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
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
    const auto known = std::find_if(spaces_.begin(), spaces_.end(), [&](const Space& space) {
      return space.index == own.index && space.backend == own.backend;
    });
    const auto number = static_cast<std::size_t>(known - spaces_.begin());
    if (known == spaces_.end()) spaces_.push_back({own.backend, own.index, NameOfSpace(device)});
    return number;
  }
  const std::string& NameOf(std::size_t number) const { return spaces_[number].name; }

 private:
  struct Space {
    std::string backend;
    int index;
    std::string name;
  };
  std::vector<Space> spaces_{{{}, 0, NameOfSpace(nullptr)}};
};

}  // namespace ferry::detail
