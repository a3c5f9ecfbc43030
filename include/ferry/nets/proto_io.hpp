// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/message.h>

#include <filesystem>

#include "ferry/detail/language.hpp"
#include "ferry/net.pb.h"
#include "ferry/solver.pb.h"

namespace ferry {

/// @name Messages in files
/// Caffe's functions, for any message. Where Caffe returns false or aborts, these throw, so a bool is always
/// true. A call that throws leaves the message, and the file, as they were.
///
/// NetError is for a file that cannot be opened or written, for 2 GiB and more, for a text that is no such
/// message (with line and column) and for a required field that is missing. FormatError is for bytes that
/// are no such message, with the byte.
///@{

/// A field that the message does not have is an error.
bool ReadProtoFromTextFile(const std::filesystem::path& file, google::protobuf::Message* proto);
/// The same.
void ReadProtoFromTextFileOrDie(const std::filesystem::path& file, google::protobuf::Message* proto);
/// Leaves out fields that the message does not have: a warning names them.
void WriteProtoToTextFile(const google::protobuf::Message& proto, const std::filesystem::path& file);
/// Keeps fields that the message does not have: a warning names them. Errors: an empty file; a file with none
/// of the message's fields; a field of another type; bytes behind the message, zeros too, which Caffe
/// ignores.
bool ReadProtoFromBinaryFile(const std::filesystem::path& file, google::protobuf::Message* proto);
/// The same.
void ReadProtoFromBinaryFileOrDie(const std::filesystem::path& file, google::protobuf::Message* proto);
/// Throws NetError for a message without a field, too, as that would be a file without a byte.
void WriteProtoToBinaryFile(const google::protobuf::Message& proto, const std::filesystem::path& file);
///@}

/// @name Nets and solvers in files
/// They are read as above, and then upgraded. What UpgradeNetAsNeeded and UpgradeSolverAsNeeded throw, these
/// throw, too.
///@{
void ReadNetParamsFromTextFileOrDie(const std::filesystem::path& file, NetParameter* param);
void ReadNetParamsFromBinaryFileOrDie(const std::filesystem::path& file, NetParameter* param);
/// A solver without a snapshot_prefix gets the file's path without its extension; one whose prefix is a
/// folder gets the file's name in that folder.
void ReadSolverParamsFromTextFileOrDie(const std::filesystem::path& file, SolverParameter* param);
///@}

}  // namespace ferry
