// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <mutex>
#include <string>

#include "core/watched.hpp"
#include "core/write_signals.hpp"

namespace ferry {

// One until the first record, which asks the environment who is to be told.
constinit std::atomic<int> detail::watchers{1};

namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"trace", "debug", "info", "warning", "error", "off"};

/// "2026-01-31 23:59:59.999", local time
std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since = std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[80] = {};
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03d", static_cast<int>(since % 1000));
  return text;
}

/// One write a line, so that lines of several processes do not mix. One that fails ends no program.
void WriteToStderr(LogLevel at, std::string_view message) {
  std::string line =
      '[' + Now() + "] [ferry] [" + std::string(kLevelNames[static_cast<std::size_t>(at)]) + "] ";
  line.append(message) += '\n';
  const detail::WithoutWriteSignals quiet;
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// Never destroyed: global objects may log until the very end.
struct State {
  std::atomic<LogLevel> level{LogLevel::kWarning};
  std::mutex mutex;
  LogSink sink = WriteToStderr;

  State();
  void SetLevel(LogLevel to) noexcept;
  void Write(LogLevel at, std::string_view message);
};

State& state() {
  static auto* const instance = new State;
  return *instance;
}

State::State() {
  const char* const wanted = std::getenv("FERRY_LOG");  // NOLINT(concurrency-mt-unsafe)
  if (wanted == nullptr || *wanted == '\0') return;
  const auto name = std::find(kLevelNames.begin(), kLevelNames.end(), wanted);
  if (name != kLevelNames.end())
    SetLevel(static_cast<LogLevel>(std::distance(kLevelNames.begin(), name)));
  else
    Write(LogLevel::kWarning,
          std::string("FERRY_LOG=") + wanted + " is not a level: trace, debug, info, warning, error, off");
}

void State::SetLevel(LogLevel to) noexcept {
  const LogLevel from = level.exchange(to, std::memory_order_relaxed);
  detail::watchers += (to == LogLevel::kTrace ? 1 : 0) - (from == LogLevel::kTrace ? 1 : 0);
}

void State::Write(LogLevel at, std::string_view message) {
  const std::lock_guard lock(mutex);
  sink(at, message);
}

}  // namespace

LogLevel log_level() noexcept { return state().level.load(std::memory_order_relaxed); }
void SetLogLevel(LogLevel level) noexcept { state().SetLevel(level); }

void SetLogSink(LogSink sink) {
  if (!sink) sink = WriteToStderr;
  const std::lock_guard lock(state().mutex);
  state().sink.swap(sink);
}

void Log(LogLevel level, std::string_view message) noexcept try {
  if (level >= log_level() && level < LogLevel::kOff) state().Write(level, message);
} catch (...) {
  // Nobody could be told.
}

}  // namespace ferry
