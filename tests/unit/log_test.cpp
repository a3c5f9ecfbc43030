// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/log.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim_child.hpp"

using namespace ferry;

namespace {

/// Puts back the level and the sink that there were.
struct Restore {
  Restore() = default;
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  ~Restore() {
    SetLogSink({});
    SetLogLevel(level);
  }
  LogLevel level = log_level();
};

using enum LogLevel;
constexpr LogLevel kLevels[] = {kTrace, kDebug, kInfo, kWarning, kError};

}  // namespace

TEST_CASE("A sink gets each line with its level") {
  const Restore restore;
  std::vector<std::pair<LogLevel, std::string>> lines;
  SetLogLevel(kTrace);
  SetLogSink([&](LogLevel level, std::string_view line) { lines.emplace_back(level, line); });
  for (const LogLevel level : kLevels) Log(level, "line {}");
  REQUIRE(lines.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(lines[i].first == kLevels[i]);
    CHECK(lines[i].second == "line {}");
  }
}

TEST_CASE("What is below the level is dropped, and everything at off") {
  const Restore restore;
  std::size_t lines = 0;
  SetLogSink([&](LogLevel, std::string_view) { ++lines; });
  for (const auto& [level, expected] :
       {std::pair(kTrace, 5U), {kDebug, 4U}, {kInfo, 3U}, {kWarning, 2U}, {kError, 1U}, {kOff, 0U}}) {
    SetLogLevel(level);
    CHECK(log_level() == level);
    lines = 0;
    for (const LogLevel at : kLevels) Log(at, "line");
    Log(kOff, "not a level of a line");
    CHECK(lines == expected);
  }
}

TEST_CASE("A line that stderr has no room for, or whose reader has gone, ends no program") {
  const bool full = GENERATE(false, true);
  const auto ended = testing::InChild([=] {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0 || close(ends[0]) != 0) _exit(2);
    dup2(full ? fileno(std::tmpfile()) : ends[1], STDERR_FILENO);
    const rlimit none{0, 0};
    if (full && setrlimit(RLIMIT_FSIZE, &none) != 0) _exit(3);
    Log(kWarning, "line");
  });
  CHECK(ended.signal == 0);
  CHECK(ended.status == 0);
}

TEST_CASE("An exception of the sink does not reach the caller") {
  const Restore restore;
  int calls = 0;
  SetLogSink([&](LogLevel, std::string_view) {
    ++calls;
    throw std::runtime_error("sink");
  });
  Log(kError, "first");
  Log(kError, "second");
  CHECK(calls == 2);
}

TEST_CASE("Lines of several threads come one at a time") {
  const Restore restore;
  int inside = 0, most = 0, lines = 0;
  SetLogSink([&](LogLevel, std::string_view) {
    most = std::max(most, ++inside);
    ++lines;
    --inside;
  });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) Log(kError, "line");
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(most == 1);
  CHECK(lines == 800);
}
