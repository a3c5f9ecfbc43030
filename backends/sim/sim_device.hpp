// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "backends/gpu/gpu_device.hpp"
#include "ferry/sim.hpp"
#include "sim_runtime.hpp"

namespace ferry::sim {

struct Kept;

/// A GPU of the simulated machine, as programs get it: when there is a new machine, it is that one's GPU of
/// the same number. If the new machine has fewer GPUs, its calls fail.
class SimDevice final : public gpu::GpuDevice<SimRuntime> {
 public:
  explicit SimDevice(int index);
  ~SimDevice() override;

  /// A new machine behind all of them. Nothing may use the old one meanwhile.
  static void RenewAll(const Options& options);
  /// What they keep until they end: no leaks.
  static Kept KeptByAll();
};

}  // namespace ferry::sim
