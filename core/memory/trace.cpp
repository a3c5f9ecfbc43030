// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory/trace.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include "ferry/log.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace {

/// Never destroyed: a global memory may be accessed until the very end.
struct Observer {
  std::mutex mutex;
  std::shared_ptr<const AccessObserver> current;
  std::atomic<bool> set{false};
};
Observer& observer() {
  static auto* const instance = new Observer;
  return *instance;
}

void LogRecord(const AccessRecord& record) {
  std::ostringstream line;
  line << "memory " << record.memory;
  if (const std::string& label = record.memory->label(); !label.empty()) line << " \"" << label << '"';
  line << ": " << Name(record.before) << ", " << Name(record.side) << ' ' << Name(record.access) << " -> "
       << Name(record.action);
  if (record.bytes != 0) line << ' ' << record.bytes << " bytes";
  line << ", " << Name(record.after);
  Log(LogLevel::kTrace, line.str());
}

}  // namespace

void SetAccessObserver(AccessObserver observe) {
  auto next = observe ? std::make_shared<const AccessObserver>(std::move(observe)) : nullptr;
  const std::lock_guard lock(observer().mutex);
  observer().set = next != nullptr;
  observer().current.swap(next);
}

namespace detail {

void Observe(const AccessRecord& record) noexcept try {
  if (observer().set) {
    std::shared_ptr<const AccessObserver> current;
    {
      const std::lock_guard lock(observer().mutex);
      current = observer().current;
    }
    if (current) (*current)(record);
  } else if (log_level() == LogLevel::kTrace) {
    LogRecord(record);
  }
} catch (...) {
  // An access does not fail because nobody could be told of it.
}

}  // namespace detail
}  // namespace ferry
