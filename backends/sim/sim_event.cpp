// SPDX-License-Identifier: BSD-2-Clause
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "machine.hpp"
#include "sim_runtime.hpp"

namespace ferry::sim {

using enum SimRuntime::Error;

std::uintptr_t Machine::MakeEvent(int device, const Call& call) {
  const std::uintptr_t handle = event_handles_.Make(Random() % 2 == 0);
  events_.emplace(handle, EventState{device, call});
  return handle;
}
Machine::EventState* Machine::FindEvent(const Call& call, std::uintptr_t event) {
  const auto it = events_.find(event);
  if (it != events_.end()) return &it->second;
  Misuse(call, event_handles_.WasMade(event) ? "an event that was destroyed" : "not an event");
  return nullptr;
}
void Machine::DestroyEvent(std::uintptr_t event) {
  events_.erase(event);
  event_handles_.GiveBack(event);
}
std::optional<Point> Machine::PointOf(const Call& call, std::uintptr_t event) {
  const EventState* const found = FindEvent(call, event);
  if (found == nullptr) return std::nullopt;
  if (!found->at) Misuse(call, "an event that was never recorded");
  if (found->at && options.events_need_stream && found->at->position.queue->destroyed) {
    Misuse(call, "an event of a stream that was destroyed");
    return std::nullopt;
  }
  return found->at;
}

SimRuntime::Error SimRuntime::EventCreate(Event* event) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock&) {
    *event = reinterpret_cast<Event>(machine().MakeEvent(CurrentDevice(), call));
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventCreateMeasuring(Event* event) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock&) {
    const std::uintptr_t handle = machine().MakeEvent(CurrentDevice(), call);
    machine().FindEvent(call, handle)->measures = true;
    *event = reinterpret_cast<Event>(handle);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventElapsedTime(float* milliseconds, Event from, Event to) {
  return Enter(__func__, Faults::kInstead, [&](const Call& call, Lock&) {
    std::array<std::int64_t, 2> times{};
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Machine::EventState* const event = machine().FindEvent(call, Number(i == 0 ? from : to));
      if (event == nullptr) return kInvalidHandle;
      if (event->time == nullptr)
        return machine().Misuse(call, "an event that does not measure, or was never recorded",
                                kInvalidHandle);
      if (*event->time == 0) return kNotReady;
      times.at(i) = *event->time;
    }
    *milliseconds = static_cast<float>(static_cast<double>(times[1] - times[0]) * 1e-6);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventRecord(Event event, Stream on) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock&) {
    const auto queue = machine().Ready(call, Number(on), CurrentDevice());
    if (queue == nullptr) return kInvalidHandle;
    Machine::EventState* const found = machine().FindEvent(call, Number(event));
    if (found == nullptr) return kInvalidHandle;
    if (found->device != queue->device)
      return machine().Misuse(call, "an event of another device than the stream", kInvalidHandle);
    if (found->measures) {
      found->time = std::make_shared<std::int64_t>(0);
      machine().Push(queue,
                     {OpKind::kOrder, call, [time = found->time, of = queue.get()] { *time = of->time; }});
    } else {
      machine().OrderWithMain(queue, call);
    }
    found->at = Point(queue);
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventDestroy(Event event) {
  return Enter(__func__, Faults::kGivesBack, [&](const Call& call, Lock&) {
    if (machine().FindEvent(call, Number(event)) == nullptr) return kInvalidHandle;
    machine().DestroyEvent(Number(event));
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventSynchronize(Event event) {
  return Enter(__func__, Faults::kEither, [&](const Call& call, Lock& lock) {
    const auto point = machine().PointOf(call, Number(event));
    if (!point) return kInvalidHandle;
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    ++machine().report.host_waits;
    machine().WaitFor(*point, lock);
    machine().Release();
    return kSuccess;
  });
}
SimRuntime::Error SimRuntime::EventQuery(Event event) {
  return Enter(__func__, Faults::kQuery, [&](const Call& call, Lock& lock) {
    const auto point = machine().PointOf(call, Number(event));
    if (!point) return kInvalidHandle;
    if (const Error unsafe = machine().EndUnsafeCaptures(call)) return unsafe;
    machine().RunWithoutKernels(point->position, lock);
    if (!point->position.Reached()) return kNotReady;
    point->before.ShowToHost();
    return kSuccess;
  });
}

}  // namespace ferry::sim
