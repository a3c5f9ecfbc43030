// SPDX-License-Identifier: BSD-2-Clause
#include "backends/host/host_device.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include "ferry/error.hpp"

namespace ferry::host {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register
constexpr std::uintptr_t kMainStream = 1;
constexpr std::uintptr_t kMeasures = std::uintptr_t{1}
                                     << 62;  // in the handle of an event, of which the rest is a time

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  utsname machine{};  // not every architecture's cpuinfo names the model
  return uname(&machine) == 0 ? machine.machine : "unknown";
}

std::size_t PhysicalMemory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

HostDevice::HostDevice() : newest_handle_(kMainStream) {
  properties_.backend = "host";
  properties_.kernels_at_once = true;
  properties_.name = ProcessorName();
  properties_.memory = PhysicalMemory();
  properties_.unified = true;
  properties_.main_stream = StreamHandle{kMainStream};
}

void* HostDevice::Allocate(MemoryKind, std::size_t bytes, StreamHandle) {
  void* ptr = nullptr;
  if (posix_memalign(&ptr, kAlignment, bytes) != 0) throw OutOfMemory("host", bytes);
  return ptr;
}
void HostDevice::Deallocate(MemoryKind, void* ptr, std::size_t, StreamHandle) noexcept { std::free(ptr); }

void HostDevice::Copy(CopyKind, void* dst, const void* src, std::size_t bytes, StreamHandle) {
  std::memcpy(dst, src, bytes);
}
void HostDevice::Fill(void* dst, std::byte value, std::size_t bytes, StreamHandle) {
  std::memset(dst, std::to_integer<int>(value), bytes);
}

/// The work before the point is done: the handle is the time of the call, or a nanosecond after the newest
/// one, so that no two are equal.
EventHandle HostDevice::RecordMeasuring(StreamHandle) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto time =
      static_cast<std::uintptr_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  std::uintptr_t newest = newest_time_.load(), next = 0;
  do {
    next = std::max(newest + 1, time);
  } while (!newest_time_.compare_exchange_weak(newest, next));
  return EventHandle{kMeasures | next};
}
std::int64_t HostDevice::Elapsed(EventHandle from, EventHandle to) {
  const auto first = static_cast<std::uintptr_t>(from), last = static_cast<std::uintptr_t>(to);
  if ((first & last & kMeasures) == 0) throw std::logic_error("host Elapsed: an event that does not measure");
  return static_cast<std::int64_t>(last) - static_cast<std::int64_t>(first);
}

}  // namespace ferry::host
