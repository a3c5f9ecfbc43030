// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <string>

#include "ferry/nets/error.hpp"
#include "ferry/solver.pb.h"

/// What solvers throw for what they cannot take.
namespace ferry::detail {

[[noreturn]] inline void FailSolver(const std::string& what) { throw NetError("solver: " + what); }

/// For numbers that updates are made of: weights would become infinite, or not a number, too.
inline void RequireFinite(const char* name, float value) {
  if (!std::isfinite(value))
    FailSolver(std::string(name) + ' ' + std::to_string(value) + "; it must be finite");
}

/// For the types of solver that have none.
inline void RefuseMomentum(const SolverParameter& param, const char* type) {
  if (param.momentum() != 0)
    FailSolver("momentum " + std::to_string(param.momentum()) + "; " + type + " has none: leave it out");
}

/// Of a mean: the share of it that a step keeps.
inline void RequireDecay(const char* name, float decay) {
  if (std::isnan(decay) || decay < 0 || decay >= 1)
    FailSolver(std::string(name) + ' ' + std::to_string(decay) + "; it must be 0 or more and less than 1");
}

/// Of what an update takes the root.
inline void RequireRoot(const char* name, float value) {
  if (value < 0) FailSolver(std::string(name) + ' ' + std::to_string(value) + "; it must be 0 or more");
}

}  // namespace ferry::detail
