// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/message.h>

#include <filesystem>
#include <memory>

#include "core/proto/file.hpp"

namespace ferry::detail {

/// WriteProtoToBinaryFile without its end: the file is whole, and comes to its place by Commit.
std::unique_ptr<NewFile> StageBinary(const google::protobuf::Message& proto,
                                     const std::filesystem::path& file);

}  // namespace ferry::detail
