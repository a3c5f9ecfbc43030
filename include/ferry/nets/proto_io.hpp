// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/message.h>

#include <filesystem>

#include "ferry/net.pb.h"
#include "ferry/solver.pb.h"

namespace ferry {

/// @name Messages in files
/// Caffe's functions; where Caffe returns false or aborts, these throw: NetError for a file that cannot be
/// opened or read as the message, with file, line and column of a text; FormatError for bytes. bool is for
/// programs that ask, and always true.
///@{
bool ReadProtoFromTextFile(const std::filesystem::path& file, google::protobuf::Message* proto);
void ReadProtoFromTextFileOrDie(const std::filesystem::path& file, google::protobuf::Message* proto);
void WriteProtoToTextFile(const google::protobuf::Message& proto, const std::filesystem::path& file);
bool ReadProtoFromBinaryFile(const std::filesystem::path& file, google::protobuf::Message* proto);
void ReadProtoFromBinaryFileOrDie(const std::filesystem::path& file, google::protobuf::Message* proto);
void WriteProtoToBinaryFile(const google::protobuf::Message& proto, const std::filesystem::path& file);
///@}

/// The same, and then UpgradeNetAsNeeded or UpgradeSolverAsNeeded.
///@{
void ReadNetParamsFromTextFileOrDie(const std::filesystem::path& file, NetParameter* param);
void ReadNetParamsFromBinaryFileOrDie(const std::filesystem::path& file, NetParameter* param);
void ReadSolverParamsFromTextFileOrDie(const std::filesystem::path& file, SolverParameter* param);
///@}

}  // namespace ferry
