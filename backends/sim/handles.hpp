// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace ferry::sim {

/// The handles of streams, or of events. A driver may give a handle again as soon as it has it back, and then
/// old notes of it seem to fit; or never, and then the use of an old one is seen. Both must be met.
class Handles {
 public:
  static constexpr std::uintptr_t kStep = 32;

  /// Two with different `first` share no handle, as long as these are less than kStep apart.
  explicit Handles(std::uintptr_t first) : first_(first), next_(first) {}

  /// The one that was given back last if `again`, else a new one.
  std::uintptr_t Make(bool again) {
    if (!again || given_back_.empty()) return next_ += kStep;
    const std::uintptr_t handle = given_back_.back();
    given_back_.pop_back();
    return handle;
  }
  void GiveBack(std::uintptr_t handle) {
    if (given_back_.size() == kKept) given_back_.pop_front();
    given_back_.push_back(handle);
  }
  /// Whether it is, or was, one of these.
  bool WasMade(std::uintptr_t handle) const {
    return handle > first_ && handle <= next_ && (handle - first_) % kStep == 0;
  }
  /// From now on none comes again that was made before.
  void Retire() { given_back_.clear(); }

 private:
  static constexpr std::size_t kKept = 16;

  std::uintptr_t first_, next_;
  std::deque<std::uintptr_t> given_back_;
};

}  // namespace ferry::sim
