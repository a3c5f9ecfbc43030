// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "ferry/nets.hpp"

namespace ferry::program {

/// The files that a training run reads, and the folders of its databases: the solver's, those of its nets and
/// weights, what a snapshot goes on from, and what layers read. Not the images of a list. What a file names
/// is left out where that file cannot be read.
std::vector<std::string> InputsOf(const std::string& solver_file, const SolverParameter& solver,
                                  const std::string& snapshot);

/// Whether a run that reads `input` reads this file, by whatever name: a file that is there is `input`, or is
/// in that folder.
bool IsRead(const std::string& file, const std::string& input);

/// Whether this is, or would be, a snapshot of a solver with that snapshot_prefix.
bool IsSnapshot(const std::string& file, const std::string& prefix);

/// Whether both are one file, by whatever names. One that is not there is where its links lead.
bool AreOneFile(const std::string& a, const std::string& b);

}  // namespace ferry::program
