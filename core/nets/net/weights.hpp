// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "core/nets/blob_writes.hpp"
#include "core/nets/net/graph.hpp"
#include "core/proto/file.hpp"

namespace ferry::detail {

/// Throw NetError, with the file if there is one, and with the advice to rename a layer that is to be learnt
/// anew.
///@{
[[noreturn]] void FailParamCount(const std::string& layer, std::size_t source, std::size_t target,
                                 const std::string& file = {});
[[noreturn]] void FailParamShape(const std::string& layer, int param, const std::string& source,
                                 const std::string& target, const std::string& file = {});
///@}

/// Says in the log that the net has no such layer: a warning, if weights are lost. Returns true.
bool Ignore(const std::string& layer, bool has_weights);
/// A warning: the source has no weights for this layer.
void KeepOwn(const std::string& layer);

/// @name What Net::CopyTrainedLayersFrom is to write
/// Looks at all weights and at the shapes of all parameters, and throws what that throws.
///@{
template <class T>
void AddWeights(const NetGraph<T>& graph, const NetParameter& param, BlobWrites<T>& writes);
/// Of a binary file, which is read into `param`.
template <class T>
void AddWeightsOfBinaryProto(const NetGraph<T>& graph, const std::filesystem::path& file, NetParameter& param,
                             BlobWrites<T>& writes);
template <class T>
void AddWeightsOfHdf5(const NetGraph<T>& graph, const std::filesystem::path& path, BlobWrites<T>& writes);
/// Of a file of either kind.
template <class T>
void AddWeights(const NetGraph<T>& graph, const std::filesystem::path& file, NetParameter& param,
                BlobWrites<T>& writes);
///@}

/// Net::ToHDF5 without its end: the file is whole, and comes to its place by Commit.
template <class T>
std::unique_ptr<NewFile> StageHdf5(const NetGraph<T>& graph, const std::filesystem::path& path,
                                   bool write_diff);

}  // namespace ferry::detail
