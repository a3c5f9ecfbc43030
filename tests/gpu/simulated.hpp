// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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

/// The machine of this program: two GPUs as their vendor makes them, or by the environment variable
/// FERRY_SIMULATED others. A misuse or a leak that is seen at the end makes the program fail.
class Session {
 public:
  explicit Session(sim::Options options) {
    const char* const value = std::getenv("FERRY_SIMULATED");
    const std::string_view machine = value == nullptr ? "" : value;
    options.devices = 2;
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

/// The vendors' numbers of errors are the simulator's.
template <class VendorError>
VendorError As(SimRuntime::Error error) {
  return static_cast<VendorError>(static_cast<int>(error));
}

/// The vendors have one or two handles for the main streams of all GPUs, 0 and 1.
inline StreamHandle Handle(const void* stream) {
  const auto number = reinterpret_cast<std::uintptr_t>(stream);
  return StreamHandle{number <= 1 ? sim::Machine::MainHandle(sim::CurrentDevice()) : number};
}
inline SimRuntime::Stream Queue(const void* stream) {
  return reinterpret_cast<SimRuntime::Stream>(Handle(stream));
}
inline SimRuntime::Event Point(void* event) { return static_cast<SimRuntime::Event>(event); }

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

/// Queues one of the kernels of tests/<backend>/kernel.hpp. It is as slow as the simulator makes it.
inline SimRuntime::Error Launch(bool fails, const void* stream) {
  return Attempt([=] {
    sim::LaunchHostCode(Handle(stream), {}, [=] {
      if (fails) throw Error("the kernel that fails");
    });
  });
}

inline SimRuntime::Error SetCapture(const void* stream, bool capturing) {
  return Attempt([=] { sim::SetCapture(Handle(stream), capturing); });
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

/// For an argument that Ferry never gives, and that means something else.
[[noreturn]] inline void Unexpected(const char* call) {
  std::fprintf(stderr, "%s: an argument that is not meant\n", call);
  std::abort();
}

}  // namespace ferry::simulated
