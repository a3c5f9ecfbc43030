// SPDX-License-Identifier: BSD-2-Clause
// In a build whose Kokkos has kernels for the GPUs of its backend.
#include <memory>
#include <mutex>

#include "backends/gpu/current_device.hpp"
#include "backends/gpu/per_stream.hpp"
#include "ferry/error.hpp"
#include "ferry/kokkos/execution_space.hpp"

namespace ferry::detail {
namespace {

/// Kokkos' instances are costly to make and not for several threads at once. Recursive: a body may queue more
/// kernels.
struct Instance {
  DeviceSpace space;
  std::recursive_mutex mutex{};
};

/// Where the device no longer works Kokkos would end the program, and there is nothing to give back.
void Destroy(Instance* instance, int device) noexcept try {
  const gpu::CurrentDevice current(device);
  if (gpu::CurrentDeviceWorks()) delete instance;
} catch (const Error&) {
}

std::shared_ptr<Instance> InstanceOf(const Stream& on) {
  return gpu::PerStream<Instance>(on, [&] {
    [[maybe_unused]] static const bool hooked =
        (Kokkos::push_finalize_hook([] { gpu::ForgetAll(typeid(Instance)); }), true);
    return std::shared_ptr<Instance>(
        new Instance{OnStream<DeviceSpace>(on.handle())},
        [device = on.device().properties().index](Instance* instance) { Destroy(instance, device); });
  });
}

}  // namespace

struct DeviceScope::Impl {
  explicit Impl(const Stream& on) : current(on), instance(InstanceOf(on)), lock(instance->mutex) {}

  gpu::CurrentDevice current;  // instances are made on it, and leave it changed
  std::shared_ptr<Instance> instance;
  std::unique_lock<std::recursive_mutex> lock;
};

DeviceScope::DeviceScope(const Stream& on) : impl_(std::make_unique<Impl>(on)) {}
DeviceScope::~DeviceScope() = default;
const DeviceSpace& DeviceScope::space() const noexcept { return impl_->instance->space; }

bool DeviceWorks(int device) noexcept try {
  const gpu::CurrentDevice current(device);
  return gpu::CurrentDeviceWorks();
} catch (const Error&) {
  return false;
}

}  // namespace ferry::detail
