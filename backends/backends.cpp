// SPDX-License-Identifier: BSD-2-Clause
#include "backends/host/host_backend.hpp"
#include "backends/sim/sim_backend.hpp"
#include "ferry/backend.hpp"

// FERRY_ACCELERATOR is the backend picked at configure time, cuda or hip; not defined where that is host.
#ifdef FERRY_ACCELERATOR
namespace ferry::FERRY_ACCELERATOR {
extern const Backend kBackend;
}
#endif

namespace ferry {

std::span<const Backend> Backends() noexcept {
  static const Backend backends[] = {
#ifdef FERRY_ACCELERATOR
      FERRY_ACCELERATOR::kBackend,
#endif
      host::kBackend,
      sim::kBackend,
  };
  return backends;
}

}  // namespace ferry
