// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "backends/gpu/describe.hpp"
#include "backends/gpu/runtime_calls.hpp"
#include "ferry/device.hpp"

namespace ferry::gpu {

/// The peers of a device whose memory its copies have access to. A peer is opened by the first copy that
/// reads its memory: before, that would make a context on a GPU that nobody uses, and access makes each
/// allocation there dearer. Any thread may call.
template <GpuRuntime Runtime>
class OpenPeers {
 public:
  explicit OpenPeers(const DeviceProperties& of) : index_(of.index) { CloseAll(of); }

  /// Nothing is open to the device any more. For a machine that is another one now; no copy is under way.
  void CloseAll(const DeviceProperties& of) {
    closed_ = of.peers;
    any_closed_ = !closed_.empty();
  }

  /// Before a copy of device memory on a stream of this device, which is current. Throws DeviceError.
  void OpenFor(const void* src) {
    if (!any_closed_.load(std::memory_order_acquire)) return;
    int owner = index_;
    Check<Runtime>("PointerGetAttributes", Runtime::PointerGetDevice(&owner, src), index_);
    if (owner == index_) return;
    const std::lock_guard lock(mutex_);
    const auto closed = std::find(closed_.begin(), closed_.end(), owner);
    if (closed == closed_.end()) return;
    Open(owner);
    closed_.erase(closed);
    any_closed_.store(!closed_.empty(), std::memory_order_release);
  }

 private:
  /// A pool's memory can't be read without its leave. Other memory can: by way of the host, which is slower,
  /// and so no error.
  void Open(int peer) {
    const RelaxedCapture<Runtime> relaxed;
    Ignore<Runtime>(Runtime::DeviceEnablePeerAccess(peer));  // the program may have done it before
    if (Describe<Runtime>(peer).memory_pools)
      Check<Runtime>("MemPoolSetAccess", Runtime::OpenPool(peer, index_), peer);
  }

  int index_;
  std::mutex mutex_;  ///< guards what follows; held while a peer is opened, as copies must wait for that
  std::vector<int> closed_;
  std::atomic<bool> any_closed_{false};
};

}  // namespace ferry::gpu
