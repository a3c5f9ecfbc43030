// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <sstream>
#include <string>

#include "ferry/log.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/solver.pb.h"

namespace ferry::detail {

/// Whether anybody reads what LogInfo says.
inline bool LogsInfo() noexcept { return log_level() <= LogLevel::kInfo; }

/// One line of what a solver tells of itself, of parts as a stream shows them. Makes none that nobody reads.
template <class... Parts>
void LogInfo(const Parts&... parts) {
  if (!LogsInfo()) return;
  std::ostringstream line;
  (line << ... << parts);
  Log(LogLevel::kInfo, line.str());
}

[[noreturn]] inline void FailSolver(const std::string& what) { throw NetError("solver: " + what); }

/// For the types of solver that have none.
inline void RefuseMomentum(const SolverParameter& param, const char* type) {
  if (param.momentum() != 0)
    FailSolver("momentum " + std::to_string(param.momentum()) + "; " + type + " has none: leave it out");
}

/// The share of a mean that a step keeps.
inline void RequireDecay(const char* name, float decay) {
  if (std::isnan(decay) || decay < 0 || decay >= 1)
    FailSolver(std::string(name) + ' ' + std::to_string(decay) + "; it must be 0 or more and less than 1");
}

}  // namespace ferry::detail
