// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string_view>

#include "ferry/detail/language.hpp"

namespace ferry {

/// How much a line matters; kOff is above all.
enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

/// Takes one line, without its newline. Called under a lock: it must not log.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// What is below the level is dropped. The first is what the environment variable FERRY_LOG says (trace,
/// debug, info, warning, error, off), or warning. At trace, every change of a memory's head is a line.
LogLevel log_level() noexcept;
/// From now on, what is below `level` is dropped. Any thread may call.
void SetLogLevel(LogLevel level) noexcept;

/// Replaces the sink, which writes to stderr; an empty one brings that back. Any thread may call; a sink must
/// not.
void SetLogSink(LogSink sink);

/// Any thread may call. An exception that the sink throws is swallowed: a log line never fails its caller.
void Log(LogLevel level, std::string_view message) noexcept;

}  // namespace ferry
