// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/sim.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "ferry/detail/dependents.hpp"
#include "ferry/error.hpp"
#include "launch.hpp"
#include "machine.hpp"
#include "sim_device.hpp"

namespace ferry::sim {
namespace {

void Throw(const char* call, Error error) {
  if (error == SimRuntime::kSuccess) return;
  (void)SimRuntime::GetLastError();
  throw DeviceError(std::string("sim ") + call, error,
                    std::string(SimRuntime::GetErrorName(error)) + ", " + SimRuntime::GetErrorString(error));
}

void RequireSimulated(const char* call, const Device& device) {
  const DeviceProperties& properties = device.properties();
  if (properties.launch != LaunchHostCode)
    throw std::invalid_argument(std::string("ferry::sim::") + call + ": the device is " + properties.backend +
                                ':' + std::to_string(properties.index) +
                                ", and is not simulated; give one of sim");
}

void RequireCalls(const std::string& which) {
  if (which.empty() || which == "any" || which == "allocation") return;
  if (std::find(std::begin(kCalls), std::end(kCalls), which) != std::end(kCalls)) return;
  std::string text = "ferry::sim::Reset: fail_call '" + which +
                     "' is no call. It may be empty, 'any', 'allocation' or one of";
  for (const std::string_view name : kCalls) text.append(" ").append(name);
  throw std::invalid_argument(text);
}

}  // namespace

void Reset(const Options& options) {
  RequireCalls(options.fail_call);
  const std::string alive = detail::Dependents::AliveOn(SimRuntime::kName);
  if (!alive.empty())
    throw std::logic_error("ferry::sim::Reset: there are " + alive +
                           " on simulated devices. They must end first; the machine stays as it is");
  SimDevice::RenewAll(options);
}

void LaunchHostCode(int device, StreamHandle on, std::vector<Touch> touches, std::function<void()> code) {
  std::vector<std::shared_ptr<const detail::KernelGuard::Note>>
      guards;  // before the lock: memories' come first
  for (const Touch& touch : touches)
    if (auto guard = detail::KernelGuard::Of(touch.ptr)) guards.push_back(std::move(guard));
  Throw("Launch", Enter("Launch", Faults::kLaunch, [&](const Call& call, Lock& lock) {
          Machine& m = Machine::The();
          const auto queue = m.Get(call, static_cast<std::uintptr_t>(on), device);
          if (queue == nullptr) return SimRuntime::kInvalidHandle;
          if (const Error sticky = m.devices[static_cast<std::size_t>(device)].sticky) return sticky;
          Op op{OpKind::kKernel, call};
          for (const Touch& touch : touches)
            if (const Error error = m.LocateTouch(call, touch, device, op.uses)) return error;
          if (queue->capturing) return ++m.report.captured, SimRuntime::kSuccess;
          if (m.options.page_protection) op.guards = std::move(guards);
          op.body = std::move(code);  // not before: what goes here goes under the lock
          m.Push(queue, std::move(op));
          m.RunEarly(Machine::Early::kAll, lock);
          return SimRuntime::kSuccess;
        }));
}

void Launch(const Stream& on, std::vector<Touch> touches, std::function<void()> body) {
  RequireSimulated("Launch", on.device());
  LaunchHostCode(on.device().properties().index, on.handle(), std::move(touches), std::move(body));
}

StreamHandle CreateBlockingStream(Device& device) {
  RequireSimulated("CreateBlockingStream", device);
  StreamHandle handle{};
  Throw("CreateBlockingStream",
        Enter("CreateBlockingStream", Faults::kQuery, [&](const Call& call, Lock& lock) {
          const auto queue =
              Machine::The().MakeQueue(device.properties().index, call, lock, QueueKind::kBlocking);
          handle = StreamHandle{queue->handle};
          return SimRuntime::kSuccess;
        }));
  return handle;
}

void Drain() {
  Lock lock(Machine::The().mutex);
  if (InKernel()) {
    Machine::The().Misuse(Machine::The().Begin("Drain", Faults::kQuery), "called by a kernel");
    return;
  }
  Machine::The().WaitForAll(std::nullopt, lock);
  Machine::The().Release();
}

Report Inspect() {
  const auto kept = SimDevice::KeptByAll();
  const Lock lock(Machine::The().mutex);
  return Machine::The().Inspect(kept);
}

void BeginCapture(StreamHandle on, CaptureMode mode) {
  Throw("BeginCapture", Enter("BeginCapture", Faults::kQuery, [&](const Call& call, Lock&) {
          const auto queue = Machine::The().Get(call, static_cast<std::uintptr_t>(on), std::nullopt);
          if (queue == nullptr) return SimRuntime::kInvalidHandle;
          if (queue->kind == QueueKind::kMain || queue->capturing)
            return SimRuntime::kStreamCaptureUnsupported;
          queue->capturing = true;
          queue->capture_mode = mode;
          queue->captured_by = std::this_thread::get_id();
          queue->capture_invalidated = false;
          return SimRuntime::kSuccess;
        }));
}
void EndCapture(StreamHandle on) {
  Throw("EndCapture", Enter("EndCapture", Faults::kQuery, [&](const Call& call, Lock&) {
          const auto queue = Machine::The().Get(call, static_cast<std::uintptr_t>(on), std::nullopt);
          if (queue == nullptr) return SimRuntime::kInvalidHandle;
          if (!queue->capturing)
            return Machine::The().Misuse(call, "a stream that is not under capture",
                                         SimRuntime::kIllegalState);
          queue->capturing = false;
          return queue->capture_invalidated ? SimRuntime::kStreamCaptureInvalidated : SimRuntime::kSuccess;
        }));
}

void BeginCapture(const Stream& on, CaptureMode mode) {
  RequireSimulated("BeginCapture", on.device());
  BeginCapture(on.handle(), mode);
}
void EndCapture(const Stream& on) {
  RequireSimulated("EndCapture", on.device());
  EndCapture(on.handle());
}

}  // namespace ferry::sim
