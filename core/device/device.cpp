// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/device.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <stdexcept>

namespace ferry {
namespace {

/// Never destroyed: devices may be, until the very end.
struct Serials {
  std::mutex mutex;
  std::vector<bool> taken = std::vector<bool>(1, true);  // 0 is nobody's
  static Serials& instance() {
    static auto* const serials = new Serials;
    return *serials;
  }
};

std::uint16_t TakeSerial() {
  constexpr std::size_t kMost = 32767;
  Serials& serials = Serials::instance();
  const std::lock_guard lock(serials.mutex);
  const auto free = std::find(serials.taken.begin(), serials.taken.end(), false);
  const auto serial = static_cast<std::size_t>(free - serials.taken.begin());
  if (serial > kMost) throw std::length_error("Device: there are 32767 devices already, which is the most");
  if (free == serials.taken.end())
    serials.taken.push_back(true);
  else
    *free = true;
  return static_cast<std::uint16_t>(serial);
}

}  // namespace

Device::Device() : serial_(TakeSerial()) {}

Device::~Device() {
  Serials& serials = Serials::instance();
  const std::lock_guard lock(serials.mutex);
  serials.taken[serial_] = false;
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
