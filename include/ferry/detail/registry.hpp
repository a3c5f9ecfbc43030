// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>
#include <vector>

#include "ferry/detail/language.hpp"

namespace ferry::detail {

/// The devices of one class that there are. Never destroyed: devices may be, until the very end. Any thread
/// may call.
template <class T>
class Registry {
 public:
  static Registry& instance() {
    static auto* const registry = new Registry;
    return *registry;
  }
  void Add(T& device) {
    const std::lock_guard lock(mutex_);
    devices_.push_back(&device);
  }
  void Remove(T& device) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(devices_, &device);
  }
  /// Calls use(devices); meanwhile none comes or goes.
  template <class Use>
  void With(Use use) {
    const std::lock_guard lock(mutex_);
    use(devices_);
  }

 private:
  std::mutex mutex_;
  std::vector<T*> devices_;
};

}  // namespace ferry::detail
