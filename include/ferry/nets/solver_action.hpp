// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>

#include "ferry/detail/language.hpp"

namespace ferry {

/// What a program asks of a solver that is running.
namespace SolverAction {  // NOLINT(readability-identifier-naming): Caffe's name
enum Enum {
  NONE = 0,     ///< nothing
  STOP = 1,     ///< end the training after this iteration; snapshot_after_train says whether with a snapshot
  SNAPSHOT = 2  ///< write a snapshot, and go on; where it cannot be written, the log has the error
};
}  // namespace SolverAction

/// What a solver calls after each iteration, and before each pass of a test, to hear what is asked of it.
using ActionCallback = std::function<SolverAction::Enum()>;

}  // namespace ferry
