// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>

namespace ferry {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"trace", "debug", "info", "warning", "error", "off"};

/// Never destroyed: global objects may log until the very end.
struct State {
  std::atomic<LogLevel> level{LogLevel::kWarning};
  std::mutex mutex;
  LogSink sink;  ///< empty: the logger
  spdlog::logger logger{"ferry", std::make_shared<spdlog::sinks::stderr_sink_mt>()};

  State();
  void Write(LogLevel at, std::string_view message);
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

State::State() {
  logger.set_level(spdlog::level::trace);               // what is dropped is our business
  const char* const wanted = std::getenv("FERRY_LOG");  // NOLINT(concurrency-mt-unsafe)
  if (wanted == nullptr || *wanted == '\0') return;
  const auto name = std::find(kNames.begin(), kNames.end(), wanted);
  if (name != kNames.end())
    level = static_cast<LogLevel>(std::distance(kNames.begin(), name));
  else
    Write(LogLevel::kWarning,
          std::string("FERRY_LOG=") + wanted + " is not a level: trace, debug, info, warning, error, off");
}

void State::Write(LogLevel at, std::string_view message) {
  const std::lock_guard lock(mutex);
  if (sink)
    sink(at, message);
  else
    logger.log(static_cast<spdlog::level::level_enum>(at),
               spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace

LogLevel log_level() noexcept { return state().level.load(std::memory_order_relaxed); }
void SetLogLevel(LogLevel level) noexcept { state().level.store(level, std::memory_order_relaxed); }

void SetLogSink(LogSink sink) {
  const std::lock_guard lock(state().mutex);
  state().sink.swap(sink);
}

void Log(LogLevel level, std::string_view message) noexcept try {
  if (level >= log_level() && level < LogLevel::kOff) state().Write(level, message);
} catch (...) {
  // Nobody could be told.
}

}  // namespace ferry
