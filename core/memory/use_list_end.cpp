// SPDX-License-Identifier: BSD-2-Clause
// How the uses of a buffer end, so that it can be given back.
#include <algorithm>
#include <new>

#include "core/device/name.hpp"
#include "core/memory/runs.hpp"
#include "ferry/detail/use_list.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

/// The host waits for all of the use.
void WaitFor(const Use& use) {
  if (use.point)
    HostWait(*use.point);
  else if (const auto stream = use.on.Alive())
    HostWait(*stream);
  else if (const auto point = use.on.LastPoint())
    HostWait(*point);
}

/// Runs `wait`, or waits for the use. False where its stream is, or may be, under graph capture, or has ended
/// and is kept. Else a driver that refuses twice is gone, and its work with it.
template <class Wait>
bool Ended(const Use& use, Wait wait) noexcept {
  bool captured = false;  // that stream, or the one that should wait: the driver has answered
  int refused = 0;
  try {
    wait(use);
    return true;
  } catch (const StreamCaptureError&) {
    captured = true;
  } catch (const DeviceError&) {
    ++refused;
  } catch (const std::bad_alloc&) {
  }
  for (;;) try {
      WaitFor(use);
      return true;
    } catch (const StreamCaptureError&) {
      return false;
    } catch (...) {
      if (++refused >= 2) return !captured && !use.on.Kept();
    }
}

}  // namespace

template <class Wait>
bool UseList::TryEnd(Wait wait) noexcept {
  if (uses_.whole() && uses_.front().empty()) return true;
  try {
    if (!uses_.whole()) uses_.Reset(Uses(All()));  // each piece of work once
  } catch (const std::bad_alloc&) {                // once a run then
  }
  Change({}, [&](std::vector<Use>& uses) {
    std::erase_if(uses, [&](const Use& use) { return Ended(use, wait); });
  });
  return empty();
}

bool UseList::TryEndBefore(const Stream& on) noexcept {
  return TryEnd([&, id = StreamNote(on).id()](const Use& use) {
    Dying dying;
    if (use.on.id() == id) return;
    const auto point = use.PointAfter(dying);
    if (point) SameBackend(use.on.device(), on.device()) ? StreamWait(on, *point) : HostWait(*point);
  });
}

bool UseList::TryEndBeforeHost() noexcept {
  return TryEnd([](const Use& use) {
    Dying dying;
    if (const auto point = use.PointAfter(dying)) HostWait(*point);
  });
}

void UseList::EndBefore(const Stream& on) {
  Dying dying;
  const auto foreign = Foreign({}, Access::kReadWrite, on, dying);
  for (const Awaited& a : foreign) HostWait(a.point);
  Reached({}, foreign, Access::kReadWrite, dying);
  Order({}, Access::kReadWrite, on, dying);
}

void UseList::EndBeforeHost() {
  Dying dying;
  for (const Awaited& a : BeforeHost({}, Access::kReadWrite, dying)) HostWait(a.point);
}

void UseList::Clear() noexcept { uses_.Reset(); }

std::optional<std::vector<StreamHandle>> UseList::StreamsOf(const Device& device) const {
  std::vector<StreamHandle> streams;
  for (const Use& use : All()) {
    if (&use.on.device() != &device) return std::nullopt;
    if (const auto stream = use.on.Alive())
      streams.push_back(stream->handle());
    else if (const auto kept = use.on.Kept())
      streams.push_back(*kept);
  }
  return streams;
}

}  // namespace ferry::detail
