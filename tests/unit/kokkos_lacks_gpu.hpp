// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "ferry/backend.hpp"
#include "ferry/kokkos/execution_space.hpp"

namespace ferry::testing {

/// Whether Kokkos can't be initialised here: it was built for a GPU, and there is none.
inline bool KokkosLacksGpu() {
  const auto backends = Backends();
  return detail::kHasDeviceSpace &&
         std::none_of(backends.begin(), backends.end(), [](const Backend& backend) {
           return backend.name == detail::BackendOf<detail::DeviceSpace>() && backend.count() > 0;
         });
}

}  // namespace ferry::testing
