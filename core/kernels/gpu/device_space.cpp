// SPDX-License-Identifier: BSD-2-Clause
// In a build whose Kokkos has kernels for the GPUs of its backend.
#include "core/kernels/gpu/device_space.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backends/gpu/current_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "core/kernels/gpu/launch_gate.hpp"
#include "core/kernels/gpu/versions.hpp"
#include "ferry/detail/kokkos/execution_space.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

/// Kokkos' instances are costly to make and not for several threads at once.
struct Instance {
  DeviceSpace space;
  std::mutex mutex{};
};

/// Kernels run until the very end of the program.
LaunchGate& Gate() {
  static LaunchGate* const gate = new LaunchGate;
  return *gate;
}

/// Where the device no longer works Kokkos would end the program, and there is nothing to give back.
void Destroy(Instance* instance, int index, StreamHandle on) noexcept try {
  const gpu::CurrentDevice current(index);
  gpu::Upkeep([&] {
    if (gpu::StreamWorks(on)) delete instance;
  });
} catch (const Error&) {
}

void RequireLaunchable(int index) {
  const KokkosAtHand kokkos = {.backend = BackendOf<DeviceSpace>(),
                               .version = KOKKOS_VERSION,
                               .runtime = gpu::RuntimeVersion(),
                               .device = DeviceOf(DeviceSpace())};
  if (const std::string why = WhyNotOn(kokkos, index); !why.empty()) throw NoDevice(why);
}

/// Alone: what instances share, Kokkos keeps without a lock.
std::shared_ptr<Instance> MakeInstance(const Stream& on) {
  const int index = on.device().properties().index;
  RequireLaunchable(index);
  std::shared_ptr<Instance> instance;
  Gate().Alone([&] {
    [[maybe_unused]] static const bool hooked =
        (Kokkos::push_finalize_hook([] { gpu::ForgetAll(typeid(Instance)); }), true);
    gpu::Upkeep([&] {
      instance = {new Instance{OnStream<DeviceSpace>(on.handle())},
                  [index, on = on.handle()](Instance* its) { Destroy(its, index, on); }};
    });
  });
  gpu::FollowMain(on);  // there Kokkos zeroes the flags that reductions count by
  return instance;
}

}  // namespace

void RunOnGpu(const Stream& on, std::atomic<std::uint64_t>& launched_on,
              const std::function<void(const DeviceSpace&)>& body) {
  const gpu::CurrentDevice current(on);
  gpu::CallLibrary("kernel", [&] {
    const LaunchGate::Aside aside;  // another thread may be making the instance
    const auto instance = gpu::PerStream<Instance>(on, [&] { return MakeInstance(on); });
    Gate().Launch(instance->mutex, launched_on, on.device().properties().index,
                  [&] { body(instance->space); });
  });
}

int WithGpuPutBack(std::optional<int> index, const std::function<void(int)>& work) {
  const gpu::CurrentDevice current;
  const int its = index.value_or(current.previous());
  gpu::CallLibrary("Kokkos::initialize", [&] { gpu::Upkeep([&] { work(its); }); });
  return its;
}

bool GpuWorks(int index) noexcept try {
  const gpu::CurrentDevice current(index);
  return gpu::CurrentDeviceWorks();
} catch (const Error&) {
  return false;
}

}  // namespace ferry::detail
