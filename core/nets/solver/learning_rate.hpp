// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/solver.pb.h"

namespace ferry::detail {

/// Throws NetError unless lr_policy and what belongs to it make a rate.
void RequireLearningRate(const SolverParameter& param);
/// The rate of iteration `iter`. `step` is what "step" and "multistep" count; "multistep" takes one step a
/// call at most, as in Caffe, whatever the step values are.
template <class T>
T LearningRate(const SolverParameter& param, int iter, int* step);

}  // namespace ferry::detail
