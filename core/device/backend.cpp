// SPDX-License-Identifier: BSD-2-Clause
#include "core/device/backend.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "ferry/checked_device.hpp"
#include "ferry/detail/dependents.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/pooled_device.hpp"
#include "ferry/statistics_device.hpp"

namespace ferry {
namespace {

/// The number after the name's colon; 0 where there is no colon.
std::optional<int> Index(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view digits = name.substr(colon + 1);
  if (digits.starts_with('-')) return std::nullopt;  // "-0" is a number
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return index;
}

std::string Known(std::span<const Backend> backends) {
  std::string names;
  for (const Backend& backend : backends) names.append(names.empty() ? "" : ", ").append(backend.name);
  return names;
}

std::unique_ptr<Device> Stack(std::unique_ptr<Device> device, bool pooled) {
  if (pooled) device = std::make_unique<PooledDevice>(std::move(device));
  device = std::make_unique<StatisticsDevice>(std::move(device));
#ifndef NDEBUG
  device = std::make_unique<CheckedDevice>(std::move(device));  // around it: what is refused is not counted
#endif
  return device;
}

/// A backend's device that is there.
struct Found {
  const Backend& backend;
  int index;
};

Found Find(std::string_view name, std::span<const Backend> backends) {
  const std::string quoted = '"' + std::string(name) + '"';
  const auto index = Index(name);
  if (!index) throw NoDevice(quoted + R"( is not a device's name; names are like "sim" and "sim:1")");
  const auto backend = std::find_if(backends.begin(), backends.end(), [&](const Backend& candidate) {
    return candidate.name == name.substr(0, name.find(':'));
  });
  if (backend == backends.end())
    throw NoDevice("no backend for device " + quoted + "; this build has " + Known(backends) +
                   ", and -DFERRY_BACKEND=<name> builds one with another");
  const int count = backend->count();
  if (count == 0)
    throw NoDevice(std::string("no ") + backend->name + " device here, or no driver for it" +
                   (backend->missing != nullptr ? ": " + backend->missing() : ""));
  if (*index >= count)
    throw NoDevice("no device " + quoted + "; the last one is \"" + backend->name + ':' +
                   std::to_string(count - 1) + '"');
  return {*backend, *index};
}

std::unique_ptr<Device> Make(const Found& found) {
  return Stack(found.backend.make(found.index), found.backend.pooled);
}

}  // namespace

namespace detail {

std::unique_ptr<Device> MakeDevice(std::string_view name, std::span<const Backend> backends) {
  return Make(Find(name, backends));
}

/// Held while a device is made, so that there is one.
Device& DeviceTable::Get(std::string_view name, std::span<const Backend> backends) {
  const Found found = Find(name, backends);
  const std::lock_guard lock(mutex_);
  auto& device = devices_[found.backend.name + (':' + std::to_string(found.index))];
  if (device == nullptr) device = Make(found);
  return *device;
}

void DeviceTable::LogLive() noexcept try {
  if (log_level() > LogLevel::kInfo || getpid() != process_) return;
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, device] : devices_) {
      if (device == nullptr) continue;  // it could not be made
      const std::string live = Dependents::Of(device->serial()).live().Text(LiveList::Where::kAnywhere);
      if (!live.empty())
        lines.emplace_back("the program ends before what memories have of ").append(name).append(":" + live);
    }
  }
  for (const std::string& line : lines) Log(LogLevel::kInfo, line);  // a sink may ask for a device
} catch (const std::bad_alloc&) {                                    // nobody is told
}

Device& GetDefault(const char* wanted, DeviceTable& table, std::span<const Backend> backends) {
  const bool said = wanted != nullptr && *wanted != '\0';
  try {
    return table.Get(said ? wanted : backends.front().name, backends);
  } catch (const NoDevice& error) {
    throw NoDevice(std::string(error.what()) +
                   (said ? " (FERRY_DEVICE asks for it; FERRY_DEVICE=host runs on the CPU)"
                         : " (FERRY_DEVICE=host runs on the CPU)"));
  }
}

}  // namespace detail

namespace {

/// Never destroyed: global memories give back theirs at exit.
detail::DeviceTable& TheTable() {
  static auto* const table = [] {
    static auto* const made = new detail::DeviceTable;
    std::atexit([] { made->LogLive(); });
    return made;
  }();
  return *table;
}

}  // namespace

std::unique_ptr<Device> MakeDevice(std::string_view name) { return detail::MakeDevice(name, Backends()); }
Device& GetDevice(std::string_view name) { return TheTable().Get(name, Backends()); }

Device& DefaultDevice() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the library reads the environment, and never writes it
  static Device& device = detail::GetDefault(std::getenv("FERRY_DEVICE"), TheTable(), Backends());
  return device;
}

}  // namespace ferry
