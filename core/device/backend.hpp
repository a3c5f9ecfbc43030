// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "ferry/backend.hpp"

namespace ferry::detail {

/// MakeDevice among other backends than this build's.
std::unique_ptr<Device> MakeDevice(std::string_view name, std::span<const Backend> backends);

/// The devices of GetDevice, each made once.
class DeviceTable {
 public:
  /// Throws what MakeDevice throws, also for a device that was made and is no longer there.
  Device& Get(std::string_view name, std::span<const Backend> backends);
  /// At LogLevel::kInfo, for the program's end, which these devices do not see: what memories have of each.
  /// Not of a process that was forked since: its parent may have been making one, and tells of its own.
  void LogLive() noexcept;

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Device>> devices_;
};

/// The device for DefaultDevice: what `wanted`, the value of FERRY_DEVICE, names, or the first backend's
/// first one where that is null or empty.
Device& GetDefault(const char* wanted, DeviceTable& table, std::span<const Backend> backends);

}  // namespace ferry::detail
