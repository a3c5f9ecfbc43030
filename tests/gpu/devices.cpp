// SPDX-License-Identifier: BSD-2-Clause
// The tests of kernels and of Blob's mathematics, for each GPU.
#include "tests/unit/devices.hpp"

#include "tests/gpu/gpus.hpp"

namespace ferry::testing {

std::vector<std::string> Devices() {
  std::vector<std::string> devices;
  for (int gpu = 0, count = CountGpus(); gpu < count; ++gpu) devices.push_back(NameOf(gpu));
  return devices;
}

}  // namespace ferry::testing
