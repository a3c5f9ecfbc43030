// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "backends/sim/launch.hpp"
#include "backends/sim/machine.hpp"
#include "ferry/error.hpp"

/// What a vendor's functions need to be made of the simulated machine: a program that is linked with them
/// instead of the vendor's library runs that vendor's backend where there is no GPU. It shows that the
/// backend means what it says in the vendor's words, as the vendor's manual explains them; not that the
/// manual is right.
namespace ferry::simulated {

using sim::SimRuntime;

inline constexpr int kGpus = 3;

/// The machine of this program: GPUs as their vendor makes them, or by the environment variable
/// FERRY_SIMULATED others. A misuse or a leak that is seen at the end makes the program fail.
class Session {
 public:
  explicit Session(sim::Options options) {
    const char* const value = std::getenv("FERRY_SIMULATED");
    const std::string_view machine = value == nullptr ? "" : value;
    options.devices = kGpus;
    options.peers = machine != "without_peers";
    options.unified = machine == "unified";
    options.memory_pools = machine != "without_pools";
    sim::Reset(options);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    sim::Drain();
    const sim::Report report = sim::Inspect();
    for (const auto* list : {&report.misuse, &report.leaks})
      for (const std::string& fault : *list) std::fprintf(stderr, "%s\n", fault.c_str());
    if (report.misuse.empty() && report.leaks.empty()) return;
    std::fflush(nullptr);
    std::_Exit(1);
  }
};

/// The vendors have one or two handles for the main streams of all GPUs, 0 and 1.
inline StreamHandle Handle(const void* stream) {
  const auto number = reinterpret_cast<std::uintptr_t>(stream);
  return StreamHandle{number <= 1 ? sim::Machine::kMainHandle : number};
}
inline SimRuntime::Stream Queue(const void* stream) {
  return reinterpret_cast<SimRuntime::Stream>(Handle(stream));
}
inline SimRuntime::Event Point(void* event) { return static_cast<SimRuntime::Event>(event); }

/// For an argument that Ferry never gives, and that means something else.
inline void Expect(bool meant, const char* call) {
  if (meant) return;
  std::fprintf(stderr, "%s: an argument that is not meant\n", call);
  std::abort();
}

template <class VendorStream>
SimRuntime::Error CreateStream(VendorStream* stream) {
  SimRuntime::Stream its{};
  const auto error = SimRuntime::StreamCreate(&its);
  *stream = reinterpret_cast<VendorStream>(its);
  return error;
}
inline std::atomic<int> measuring_events = 0;  ///< that were made

template <class VendorEvent>
SimRuntime::Error CreateEvent(VendorEvent* event, bool measures) {
  SimRuntime::Event its{};
  if (measures) ++measuring_events;
  const auto error = measures ? SimRuntime::EventCreateMeasuring(&its) : SimRuntime::EventCreate(&its);
  *event = reinterpret_cast<VendorEvent>(its);
  return error;
}
template <class Status>
SimRuntime::Error IsCapturing(const void* stream, Status* status, Status none, Status active) {
  auto its = SimRuntime::kNotCapturing;
  const auto error = SimRuntime::StreamIsCapturing(Queue(stream), &its);
  *status = its == SimRuntime::kNotCapturing ? none : active;
  return error;
}

inline SimRuntime::Error PciIdOf(char* id, int size, int device) {
  std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device));
  return SimRuntime::kSuccess;
}
inline SimRuntime::Error DeviceByPciId(int* device, const char* id) {
  unsigned bus = 0;
  if (std::sscanf(id, "0000:%x:00.0", &bus) != 1) return SimRuntime::kInvalidValue;
  return *device = static_cast<int>(bus), SimRuntime::kSuccess;
}
inline SimRuntime::Error Count(int* count) {
  return *count = sim::Machine::The().device_count(), SimRuntime::kSuccess;
}

inline SimRuntime::Error CanAccessPeer(int* can, int device, int peer) {
  DeviceProperties its;
  const auto error = SimRuntime::Describe(device, its);
  *can = std::find(its.peers.begin(), its.peers.end(), peer) != its.peers.end();
  return error;
}

/// A GPU's memory pool; its handle is the address.
struct Pool {
  int device;
  std::uint64_t threshold;  ///< what is freed beyond it goes back to the system
};
inline Pool pools[kGpus] = {{0, 0}, {1, 0}, {2, 0}};

template <class VendorPool>
SimRuntime::Error GetPool(VendorPool* pool, int device) {
  DeviceProperties its;
  if (const auto error = SimRuntime::Describe(device, its); error != SimRuntime::kSuccess) return error;
  if (!its.memory_pools) return SimRuntime::kNotSupported;
  *pool = reinterpret_cast<VendorPool>(&pools[device]);
  return SimRuntime::kSuccess;
}

/// The number of the error that `work` throws.
template <class Work>
SimRuntime::Error Attempt(Work work) {
  try {
    work();
    return SimRuntime::kSuccess;
  } catch (const DeviceError& error) {
    return static_cast<SimRuntime::Error>(error.code());
  }
}

/// The kernels of tests/<backend>/kernel.hpp. They are as slow as the simulator makes them.
inline constexpr bool kFail = true, kDelay = false;
template <class Function>
Function KernelOf(std::string_view name) {
  return reinterpret_cast<Function>(const_cast<bool*>(name == "Fail" ? &kFail : &kDelay));
}
inline SimRuntime::Error Launch(const void* kernel, const void* stream) {
  return Attempt([=] {
    sim::LaunchHostCode(sim::CurrentDevice(), Handle(stream), {}, [=] {
      if (kernel == &kFail) throw Error("the kernel that fails");
    });
  });
}

/// The vendors' numbers of modes are the simulator's.
inline SimRuntime::Error BeginCapture(const void* stream, int mode) {
  return Attempt([=] { sim::BeginCapture(Handle(stream), static_cast<sim::CaptureMode>(mode)); });
}
inline SimRuntime::Error EndCapture(const void* stream) {
  return Attempt([=] { sim::EndCapture(Handle(stream)); });
}
template <class Mode>
SimRuntime::Error ExchangeCaptureMode(Mode* mode) {
  auto its = static_cast<SimRuntime::CaptureMode>(*mode);
  const auto error = SimRuntime::ThreadExchangeStreamCaptureMode(&its);
  return *mode = static_cast<Mode>(its), error;
}

struct Owner {
  MemoryKind kind;
  int device;
};
/// Of the memory that a pointer is into; nothing for memory that is the host's own.
inline std::optional<Owner> OwnerOf(const void* ptr) {
  const sim::Lock lock(sim::Machine::The().mutex);
  const sim::Block* const block = sim::Machine::The().memory.Find(ptr);
  return block == nullptr ? std::nullopt : std::optional(Owner{block->kind, block->device});
}

}  // namespace ferry::simulated
