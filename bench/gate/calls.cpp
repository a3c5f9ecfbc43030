// SPDX-License-Identifier: BSD-2-Clause
// The calls of the runtime that transitions make on the simulated GPU. The simulated runtime is as strict as
// the strictest vendor's: a GPU that is not current takes one call more than with CUDA.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/gate/transitions.hpp"
#include "ferry/pooled_device.hpp"

int main() {
  ferry::sim::Reset({.devices = 2});
  ferry::PooledDevice first(ferry::MakeDevice("sim:0")), second(ferry::MakeDevice("sim:1"));
  for (auto& [what, calls] : ferry::bench::CountTransitions(first, second)) {
    std::string name = what;
    std::replace(name.begin(), name.end(), ' ', '_');
    std::printf("%s %ld\n", name.c_str(), calls);
  }
}
