// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>

namespace ferry::detail {

/// On which devices a kernel has been launched: a bit each for 0 to 63. Zero at first.
using LaunchedOn = std::atomic<std::uint64_t>;

/// Who may launch when, with a library that prepares a kernel at its first launch on a device and locks
/// nothing meanwhile. Any thread may call. No call waits for another one but through the gate, so that calls
/// from within others, on whatever streams, cannot block each other: those around them stand aside.
class LaunchGate {
  class Turn;

 public:
  /// While it lives, a launch that the calling thread is within stands aside: for what may wait for another
  /// thread's launch.
  class Aside {
   public:
    Aside();
    ~Aside();
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    Turn* around_;
  };

  /// Runs launch(), one at a time for each `stream`. Alone among all calls, until it has returned once for
  /// this kernel and device: the first time it is the preparation, and other kernels may share what it
  /// prepares.
  void Launch(std::mutex& stream, LaunchedOn& kernel, int device, const std::function<void()>& launch);
  /// Runs work(), alone among all calls.
  void Alone(const std::function<void()>& work);

 private:
  enum class Entry : std::uint8_t { kShared, kAlone };

  std::mutex queue_;  ///< for the door: else those who share it would keep out who wants it alone
  std::shared_mutex door_;
};

}  // namespace ferry::detail
