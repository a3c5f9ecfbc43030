// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/kernel_place.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "core/memory/observers.hpp"
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
  using Clock = std::chrono::steady_clock;

  Extra(const At& at, std::span<const Request> requests) : place(at.place()), site(at.site()) {
    operands.reserve(requests.size());
    for (const auto& [memory, range, access] : requests)
      if (range.bytes != 0) operands.push_back({memory, range, access});
  }

  KernelPlace place;
  Site site;
  std::vector<CallRecord::Operand> operands;
  Clock::time_point taken{};  ///< of a call that is watched
  int exceptions = std::uncaught_exceptions();
};

KernelCall::KernelCall(const At& at, std::span<const Request> requests, std::span<void*> ptrs)
    : place_(&at.place()) {
  const bool watched = Watched();
  if (!watched && RunsAt(*place_)) [[likely]] {
    TakeAt(at, requests, ptrs);
    return;
  }
  auto extra = std::make_unique<Extra>(at, requests);
  place_ = &*extra->place;
  TakeAt({*place_, at.site()}, requests, ptrs);
  if (watched) extra->taken = Extra::Clock::now();
  extra_ = extra.release();
}

void KernelCall::End() noexcept {
  const std::unique_ptr<Extra> extra(extra_);
  const bool failed = std::uncaught_exceptions() > extra->exceptions;
  if (failed || extra->taken == Extra::Clock::time_point{}) return;
  Tell(CallRecord{.on = place_->side() == Side::kCpu ? nullptr : &place_->stream(),
                  .operands = extra->operands,
                  .site = extra->site,
                  .took_ns = std::chrono::nanoseconds(Extra::Clock::now() - extra->taken).count()});
}

}  // namespace ferry::detail
