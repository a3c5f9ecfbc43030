// SPDX-License-Identifier: BSD-2-Clause
// A copy and accesses that a profiler is shown. They need no GPU.
#include "ferry/ferry.hpp"

int main() {
  const auto device = ferry::MakeDevice("sim:0");
  ferry::SyncedMemory memory(64, *device, "weights");
  memory.mutable_cpu_data();
  memory.gpu_data();
}
