// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "ferry/blob.hpp"

namespace ferry::detail {

/// Memory that a layer's work needs while it runs and no longer. What one thread runs on a device follows one
/// another, so all scratches that it takes there are the same array, as large as the largest.
template <Real T>
class Scratch {
 public:
  explicit Scratch(Device& device) : device_(&device) {}

  /// The first `count` elements, for the kernels of one call: with values that others left, and lost when any
  /// scratch is taken again.
  Part Take(std::int64_t count);

 private:
  Device* device_;
  std::shared_ptr<Blob<T>> shared_;  ///< keeps what it took last
};

}  // namespace ferry::detail
