// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "core/nets/blob_writes.hpp"
#include "core/proto/file.hpp"
#include "ferry/nets/net.hpp"
#include "ferry/solver.pb.h"

namespace ferry::detail {

template <class T>
using StateBlobs = std::vector<std::shared_ptr<Blob<T>>>;

/// What the layers of the train net and the test nets leave for the next pass.
template <class T>
StateBlobs<T> LayerState(const Net<T>& train, const std::vector<std::shared_ptr<Net<T>>>& tests) {
  StateBlobs<T> all;
  const auto add = [&](const Net<T>& net) {
    for (const auto& layer : net.layers())
      for (auto& blob : layer->state()) all.push_back(std::move(blob));
  };
  add(train);
  for (const auto& test : tests) add(*test);
  return all;
}

/// The arrays of a snapshot that are no weights.
template <class T>
struct Kept {
  StateBlobs<T> history;      ///< of the solver
  StateBlobs<T> layer_state;  ///< of layers, in the order of nets and their layers
};

/// A .solverstate: the state, which has no arrays, and the arrays. The file is whole, and comes to its place
/// by Commit. Throws NetError.
template <class T>
std::unique_ptr<NewFile> StageState(const std::filesystem::path& file, SolverParameter::SnapshotFormat format,
                                    const SolverState& state, const Kept<T>& kept);

/// Reads one, of either format, into `state`. `writes` gets what becomes of `kept`, which is what the solver
/// and its nets have: zeros for layers' state in a file without any, such as Caffe's. Throws NetError for
/// another history or other layers' state, and for a file that is no state.
template <class T>
void ReadState(const std::filesystem::path& file, const Kept<T>& kept, SolverState& state,
               BlobWrites<T>& writes);

}  // namespace ferry::detail
