// SPDX-License-Identifier: BSD-2-Clause
#include "backends/host/host_device.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "ferry/error.hpp"

namespace ferry::host {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register
constexpr std::uintptr_t kMainStream = 1;

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

}  // namespace ferry::host
