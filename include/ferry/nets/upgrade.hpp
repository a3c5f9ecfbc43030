// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "ferry/net.pb.h"
#include "ferry/solver.pb.h"

namespace ferry {

/// Brings a net to today's form: V0 layers, V1 layers, fields of data transformations, input fields,
/// BatchNorm's rates. `file` is what errors and warnings call it. Returns whether all could be upgraded, as
/// Caffe does. Throws NetError for a net of two forms at once.
bool UpgradeNetAsNeeded(const std::string& file, NetParameter* param);
/// Whether that would change anything.
bool NetNeedsUpgrade(const NetParameter& param);
/// A solver's type by number becomes one by name. Throws NetError for one that has both.
bool UpgradeSolverAsNeeded(const std::string& file, SolverParameter* param);
/// Whether that would change anything.
bool SolverNeedsTypeUpgrade(const SolverParameter& param);

/// Gives each blob that several layers read a Split layer.
void InsertSplits(const NetParameter& param, NetParameter* split);

}  // namespace ferry
