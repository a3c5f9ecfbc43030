// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/kernel_place.hpp"

#include <atomic>
#include <memory>

#include "core/kernels/tools.hpp"
#include "core/memory/observers.hpp"
#include "core/memory/told_call.hpp"
#include "core/watched.hpp"
#include "ferry/detail/kokkos/execution_space.hpp"
#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

bool HasKernels(const DeviceProperties& device) noexcept {
  return device.launch != nullptr || device.kernels_at_once || OnDeviceSpace(device);
}

void WarnOnce(const DeviceProperties& device) {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  Log(LogLevel::kWarning, "Kokkos was built without kernels for " + device.backend + ": those of " +
                              device.backend + ':' + std::to_string(device.index) +
                              " run on the CPU, and the memory goes there and back");
}

bool RunsAt(const Place& place) noexcept {
  return place.side() == Side::kCpu || HasKernels(place.device().properties());
}

}  // namespace

KernelPlace::KernelPlace(const Place& place) : place_(&place) {
  if (RunsAt(place)) return;
  WarnOnce(place.device().properties());
  place_ = &cpu_.emplace(Place::Cpu(place.device()));
}

struct KernelCall::Extra {
  Extra(const At& at, std::span<const Request> requests)
      : place(at.place()),
        told(ToldCall::Kind::kKernel, place->side() == Side::kCpu ? nullptr : &place->stream(), requests,
             at.site()) {}

  KernelPlace place;
  ToldCall told;
};

KernelCall::KernelCall(const At& at, std::span<const Request> requests, std::span<void*> ptrs)
    : place_(&at.place()) {
  if (!Watched() && RunsAt(*place_)) [[likely]] {
    TakeAt(at, requests, ptrs);
    return;
  }
  auto extra = std::make_unique<Extra>(at, requests);
  place_ = &*extra->place;
  TakeAt({*place_, at.site()}, requests, ptrs);
  extra->told.Start();
  extra_ = extra.release();
}

void KernelCall::NoteWatchedWait() noexcept {
  if (place_->side() == Side::kGpu && !place_->device().properties().kernels_at_once) extra_->told.NoteWait();
}
void KernelCall::End() noexcept { delete extra_; }

/// Here, since every program that runs kernels links this.
std::shared_ptr<Observer> ObserverOfKernels() { return ObserverForTools(); }

}  // namespace ferry::detail
