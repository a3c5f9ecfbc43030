// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/nets/blob_writes.hpp"
#include "core/proto/file.hpp"
#include "ferry/nets/net.hpp"
#include "ferry/solver.pb.h"

namespace ferry::detail {

template <class T>
using StateBlobs = std::vector<std::shared_ptr<Blob<T>>>;

/// What the layers of nets leave for the next pass, in the order of nets and their layers.
template <class T>
StateBlobs<T> LayerState(const std::vector<std::shared_ptr<Net<T>>>& nets) {
  StateBlobs<T> all;
  for (const auto& net : nets)
    for (const auto& layer : net->layers())
      for (auto& blob : layer->state()) all.push_back(std::move(blob));
  return all;
}

/// The arrays of a snapshot that are no weights.
template <class T>
struct Kept {
  StateBlobs<T> history;           ///< of the solver
  StateBlobs<T> layer_state;       ///< of the train net's layers
  StateBlobs<T> test_layer_state;  ///< of those of test nets
};

/// A .solverstate: the state, which has no arrays, and the arrays. The file is whole, and comes to its place
/// by Commit. Throws NetError.
template <class T>
std::unique_ptr<NewFile> StageState(const std::filesystem::path& file, SolverParameter::SnapshotFormat format,
                                    const SolverState& state, const Kept<T>& kept);

/// Reads one, of either format, into `state`. `writes` gets what becomes of `kept`, which is what the solver
/// and its nets have. Layers' state becomes zeros where the file has none, such as Caffe's, and where it has
/// that of other streams or another number of test nets. Returns warnings for the log, one for each kind of
/// arrays that did not fit. Throws NetError for another history, and for a file that is no state.
template <class T>
std::vector<std::string> ReadState(const std::filesystem::path& file, const Kept<T>& kept, SolverState& state,
                                   BlobWrites<T>& writes);

}  // namespace ferry::detail
