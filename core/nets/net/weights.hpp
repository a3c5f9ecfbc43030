// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/nets/net/graph.hpp"
#include "core/proto/file.hpp"
#include "ferry/operand.hpp"

namespace ferry::detail {

/// Throw NetError, with the file if there is one, and with the advice to rename a layer that is to be learnt
/// anew.
///@{
[[noreturn]] void FailParamCount(const std::string& layer, std::size_t source, std::size_t target,
                                 const std::string& file = {});
[[noreturn]] void FailParamShape(const std::string& layer, int param, const std::string& source,
                                 const std::string& target, const std::string& file = {});
///@}

/// The elements of several arrays, of all or of none, for a host that writes them all. `site` is the caller.
template <class T>
std::vector<T*> OverwriteAll(Device& device, std::span<const Operand<T>> operands, const Site& site);

/// Says in the log that the net has no such layer: a warning, if weights are lost. Returns true.
bool Ignore(const std::string& layer, bool has_weights);
/// A warning: the source has no weights for this layer.
void KeepOwn(const std::string& layer);

/// Net::ToHDF5 without its end: the file is whole, and comes to its place by Commit.
template <class T>
std::unique_ptr<NewFile> StageHdf5(const NetGraph<T>& graph, const std::filesystem::path& path,
                                   bool write_diff);

}  // namespace ferry::detail
