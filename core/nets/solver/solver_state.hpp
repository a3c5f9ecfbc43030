// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/solver.pb.h"

namespace ferry::detail {

template <class T>
using History = std::vector<std::shared_ptr<Blob<T>>>;

/// Writes a .solverstate: the state, which has no history, and the history. The file appears whole or not at
/// all. Throws NetError.
template <class T>
void WriteState(const std::filesystem::path& file, SolverParameter::SnapshotFormat format,
                const SolverState& state, const History<T>& history);

/// Reads one, of either format. `like` is the history that the solver has, and `history` becomes one of the
/// same shapes, written at `site`. Throws NetError for another history, and for a file that is no state.
template <class T>
SolverState ReadState(const std::filesystem::path& file, const History<T>& like, History<T>* history,
                      const Site& site);

}  // namespace ferry::detail
