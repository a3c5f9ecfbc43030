// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ferry/stream.hpp"

/// A simulated GPU, for tests: the backend code of CUDA and HIP over host memory and queues. Work runs as late as
/// the contract of Device allows, in an order drawn from a seed, so that a missing wait is seen, and seen again.
/// One simulated machine a process; any thread may call.
namespace ferry::sim {

struct Options {
  std::uint64_t seed = 0;
  int devices = 1;
  std::size_t memory = 0;         ///< of each device, in bytes; 0: no limit
  std::size_t pinned_memory = 0;  ///< of the host, in bytes; 0: no limit
  bool unified = false;
  bool pageable_late = false;  ///< pageable memory is copied like pinned, as CUDA's words permit
  long fail_at = 0;            ///< the n-th runtime call fails, counted from 1; 0: none
  std::string fail_call = {};  ///< count only calls of this name, "MemcpyAsync" say
  bool fail_late = false;      ///< the failing call still does its work, as when a vendor reports an older error
};

struct Report {
  std::vector<std::string> misuse;  ///< the call and what was wrong with it
  std::vector<std::string> leaks;   ///< blocks, streams and events not given back
  long calls = 0;                   ///< that can fail
  long copies = 0;
  long host_waits = 0;
};

/// A new machine. Nothing of the old one may be used any more, devices included.
void Reset(const Options& options = {});
/// Queues a "kernel". `touches` are the blocks that it may dereference while it runs; outside it, device memory is
/// out of the host's reach, and a touch of it is a segmentation fault. The body must not call ferry. One that
/// throws is a kernel that failed: each later call on its device fails, as after a sticky error.
/// Throws DeviceError.
void Launch(const Stream& on, std::vector<const void*> touches, std::function<void()> body);
/// Runs all queued work.
void Drain();
Report Inspect();

/// Between the two, work queued on `on` would become a graph: every call that needs that stream must fail.
void BeginCapture(const Stream& on);
void EndCapture(const Stream& on);

}  // namespace ferry::sim
