// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/device.hpp"

#include <exception>
#include <stdexcept>
#include <string>

#include "core/device/name.hpp"
#include "ferry/detail/dependents.hpp"
#include "ferry/error.hpp"

namespace ferry {

std::string detail::AccessOf(const std::string& label) { return ", in an access of " + Quoted(label); }

Device::Device() : serial_(detail::Dependents::Open()) {}
Device::~Device() { detail::Dependents::Of(serial_).Close(); }

EventHandle Device::RecordMeasuring(StreamHandle) {
  throw std::logic_error("Device::RecordMeasuring: " + Name(*this) + " has no clock");
}
std::int64_t Device::Elapsed(EventHandle, EventHandle) {
  throw std::logic_error("Device::Elapsed: " + Name(*this) + " has no clock");
}

std::optional<EventHandle> Device::CopyAndRecord(CopyKind kind, void* dst, const void* src, std::size_t bytes,
                                                 StreamHandle on) {
  Copy(kind, dst, src, bytes, on);
  try {
    return Record(on);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void Device::Order(std::span<const StreamHandle> before, StreamHandle then) {
  for (const StreamHandle on : before) {
    const EventHandle point = Record(on);
    try {
      StreamWait(then, point);
    } catch (...) {
      Release(point);
      throw;
    }
    Release(point);
  }
}

}  // namespace ferry
