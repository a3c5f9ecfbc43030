// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/wait.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace ferry::testing {

struct Outcome {
  int status;          ///< what main returned; -1 where a signal ended it
  std::string output;  ///< both streams
  bool Says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

/// Runs a scenario of child.cpp in an environment, "FERRY_LOG=info FERRY_DEVICE=sim" say.
inline Outcome Run(const std::string& environment, const std::string& scenario) {
  const std::string command = "{ env -u FERRY_DEVICE -u FERRY_LOG " + environment +
                              " " FERRY_PROCESS_CHILD " " + scenario + "; } 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome{-1, ""};
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), n);
  const int ended = pclose(pipe);
  if (WIFEXITED(ended)) outcome.status = WEXITSTATUS(ended);
  UNSCOPED_INFO(command << '\n' << outcome.output);
  return outcome;
}

inline std::string Bytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace ferry::testing
